# The screen of `hearth top` (tools/top/top_screen.c). Without it there is only `hearth top --once`.
hearth_optional(NCURSES libncurses-dev "hearth top has no screen" ncursesw>=6.0 ncurses>=6.0)
