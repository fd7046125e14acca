# pages.awk: writes manual pages of section 3 from one public header.
#
#   awk -v out=FOLDER -v version=V -v base=NAME.h -v included=NAME.h -v package=NAME -v inlines=FILE -f pages.awk HEADER
#
# base is the header, included the header that programs include to get it, package the pkg-config package.
#
# It relies on the layout of the headers:
#   the first comment                the header as a whole: page NAME.h
#   / * ---- title ---- * /          a section. Each becomes a page, named after its first function; without sections each block becomes one
#   a block                          declarations without a blank line between them, and the comment above: the text for all of them
#   a comment behind a declaration   the text for this one
#   a comment alone, first in a section   the text for all functions in it
#   MACRO(x)                         alone on its line: defines the functions x_... that the preprocessor found (the file `inlines`)
# Lines of a comment that are indented further are shown verbatim. The other functions of a page are links to it (.so).
# Functions without text are listed on stdout, as "untold NAME".

BEGIN {
    while ((getline line < inlines) > 0)
        inline_names[++inline_count] = line
    close(inlines)
    open_page("")
}

# ---- reading ----

function strip_comment(s) { # one line of a comment, without the comment markers
    sub(/^[ \t]*\/\*+ ?/, "", s)
    sub(/[ \t]*\*+\/[ \t]*$/, "", s)
    sub(/^[ \t]*\*[ \t]?$/, "", s)
    sub(/^ \* /, "", s)
    return s
}

function without_comments(s,    from, n) {
    while ((from = index(s, "/*")) && (n = index(substr(s, from), "*/")))
        s = substr(s, 1, from - 1) substr(s, from + n + 1)
    sub(/[ \t]+$/, "", s)
    return s
}

function open_page(title) {
    page++
    page_title[page] = title
    open_block()
}

function open_block() {
    block++
    page_of[block] = page
    block_text[block] = ""
    block_functions[block] = 0
}

function add_text(s) {
    block_text[block] = block_text[block] == "" ? s : block_text[block] "\n\n" s
}

# A type or a macro; a comment directly above it belongs to it, not to the functions that follow.
function keep_definition(s) {
    definition[++definitions] = s
    definition_page[definitions] = page
    definition_block[definitions] = block
    definition_words[definitions] = words_of(s)
    definition_comment[definitions] = ""
    if (fresh) {
        definition_comment[definitions] = raw_comment
        block_text[block] = text_before
        fresh = 0
    }
}

function words_of(s,    w, tag) { # the names that a definition defines, between blanks
    if (s ~ /^#define/) {
        sub(/^#define /, "", s)
        sub(/[ (].*/, "", s)
        return " " s " "
    }
    tag = ""
    if (match(s, /(struct|enum) [A-Za-z_0-9]+/)) {
        tag = substr(s, RSTART, RLENGTH)
        sub(/.* /, "", tag)
    }
    gsub(/\n/, " ", s)
    if (s !~ /^typedef/) return " " tag " "
    sub(/[{].*[}]/, "", s)
    sub(/^typedef /, "", s)
    if (s ~ /\(\*/) { sub(/.*\(\*/, "", s); sub(/\).*/, "", s) }
    else { sub(/[(;].*/, "", s); sub(/.*[ *]/, "", s) }
    return " " tag " " s " "
}

function add_function(name, prototype, trailing,    n) {
    fresh = 0
    n = ++functions
    function_name[n] = name
    function_prototype[n] = prototype
    function_text[n] = trailing
    function_block[n] = block
    block_functions[block]++
}

# A complete declaration: a type, or a function.
function declared(s, raw,    trailing, name, at) {
    if (s ~ /^(typedef|struct [a-z_0-9]* ?[{]|struct [a-z_0-9]*;|enum|union)/) {
        keep_definition(raw)
        return
    }
    trailing = ""
    if (match(s, /\/\*.*\*\//)) {
        trailing = strip_comment(substr(s, RSTART, RLENGTH))
        s = substr(s, 1, RSTART - 1) substr(s, RSTART + RLENGTH)
    }
    gsub(/[ \t]+/, " ", s)
    gsub(/ GASNET_MUST_USE/, "", s)
    gsub(/\( /, "(", s)
    sub(/^ /, "", s)
    sub(/ $/, "", s)
    at = index(s, "(")
    if (!at)
        return
    name = substr(s, 1, at - 1)
    sub(/.*[ *]/, "", name)
    if (name !~ /^gasnet[ci]_/)
        add_function(name, s, trailing)
}

# Functions that a macro defines. They have no prototypes of their own: the comment above the macro shows their form.
function instantiated(s,    x, i) {
    x = s
    sub(/^[A-Z_]*\(/, "", x)
    sub(/[,)].*/, "", x)
    for (i = 1; i <= inline_count; i++)
        if (index(inline_names[i], x "_") == 1 && !(inline_names[i] in taken)) {
            taken[inline_names[i]] = 1
            add_function(inline_names[i], "", "made")
        }
}

function defined(s,    name) { # a macro; s is its first line
    name = s
    sub(/^#define /, "", name)
    sub(/[ (].*/, "", name)
    if (name ~ /^(HEARTH_|_|GASNET[CI]_|ARMCII|HAVE_)/ || s ~ /_H$/)
        return
    sub(/[ \t]*\\$/, "", s)
    if (s ~ /^#define [A-Za-z0-9_]*\(/)
        sub(/\)[ \t].*/, ")", s)
    keep_definition(s)
}

function reading_comment() {
    comment = comment "\n" strip_comment($0)
    raw_comment = raw_comment (raw_comment == "" ? "" : "\n") $0
    if (/\*\//)
        finish_comment()
}

function finish_comment() {
    in_comment = 0
    sub(/^\n/, "", comment)
    if (comment ~ /^clang-format/)
        return
    if (!seen_head) {
        seen_head = 1
        head = comment
    } else {
        if (block_functions[block])
            open_block()
        text_before = block_text[block]
        add_text(comment)
        fresh = 1
    }
}

{ sub(/\r$/, "") }
in_comment { reading_comment(); next }
in_define { in_define = /\\$/; next }
in_cplusplus { if (/^#endif/) in_cplusplus = 0; next }
/^#ifdef __cplusplus/ { in_cplusplus = 1; next }
/^#define / { in_define = /\\$/; defined($0); next }
/^#|^__attribute__|^extern "C"/ || (depth == 0 && /^}$/) { next }
depth == 0 && pending == "" && /^\/\* ---- .* ---- \*\/$/ {
    title = $0
    sub(/^\/\* ---- /, "", title)
    sub(/ ---- \*\/$/, "", title)
    sectioned = 1
    open_page(title)
    next
}
depth == 0 && pending == "" && /^[ \t]*$/ {
    fresh = 0
    if (block_functions[block] || block_text[block] != "") open_block_later = 1
    next
}
depth == 0 && pending == "" && /^\/\*/ {
    if (open_block_later) { open_block(); open_block_later = 0 }
    in_comment = 1
    comment = raw_comment = ""
    reading_comment()
    next
}
depth == 0 && pending == "" && /^[A-Z_]+\([A-Za-z0-9_, ]*\)/ {
    if (open_block_later) { open_block_later = 0; open_block() }
    instantiated($0)
    next
}
/./ {
    if (pending == "" && open_block_later) { open_block_later = 0; open_block() }
    raw = raw == "" ? $0 : raw "\n" $0
    code = $0
    if (pending != "") sub(/^[ \t]+/, " ", code)
    pending = pending code
    code = $0
    code = without_comments(code)
    depth += gsub(/[{]/, "{", code) - gsub(/[}]/, "}", code)
    if (depth == 0 && code ~ /(;|^})[ \t]*$/) {
        if (pending ~ /^static inline /) sub(/ *[{].*/, ";", pending)
        declared(pending, raw)
        pending = raw = ""
    }
}

# ---- writing ----

function escape(s) {
    gsub(/\\/, "\\e", s)
    s = minus(s)
    sub(/^[.']/, "\\\\\\&&", s)
    return s
}

function minus(s,    done) { # the hyphen before an option or error code becomes a minus sign, which users can copy
    done = ""
    while (match(s, /(^|[ (])-[A-Za-z0-9]/)) {
        done = done substr(s, 1, RSTART + RLENGTH - 3) "\\-" substr(s, RSTART + RLENGTH - 1, 1)
        s = substr(s, RSTART + RLENGTH)
    }
    return done s
}

function put_text(s, file,    lines, count, i, plain) { # a comment's text
    count = split(s, lines, "\n")
    plain = 1
    for (i = 1; i <= count; i++) {
        if (lines[i] ~ /^    / && plain) { print ".PP\n.nf" > file; plain = 0 }
        else if (lines[i] !~ /^    / && lines[i] != "" && !plain) { print ".fi\n.PP" > file; plain = 1 }
        if (lines[i] == "") { if (plain && i < count) print ".PP" > file; else if (!plain) print "" > file }
        else print escape(lines[i]) > file
    }
    if (!plain) print ".fi" > file
}

function put_code(s, file,    lines, count, i) {
    count = split(s, lines, "\n")
    for (i = 1; i <= count; i++)
        print escape(lines[i]) > file
}

function put_prototype(s, file) {
    if (length(s) > 78 && match(s, /\(/)) { # broken after commas
        put_broken(s, file)
        return
    }
    print "\\fB" escape(s) "\\fP" > file
}

function put_broken(s, file,    parts, count, i, line) {
    count = split(s, parts, ", ")
    line = parts[1]
    for (i = 2; i <= count; i++) {
        if (length(line) + length(parts[i]) + 2 > 78) {
            print "\\fB" escape(line) ",\\fP" > file
            line = "        " parts[i]
        } else
            line = line ", " parts[i]
    }
    print "\\fB" escape(line) "\\fP" > file
}

function first_sentence(s) {
    sub(/\n\n.*/, "", s)
    gsub(/\n/, " ", s)
    sub(/[.:;] .*/, "", s)
    sub(/\.$/, "", s)
    return s
}

function begin_page(name, names, about, file) {
    printf ".\\\" Generated from %s.\n.TH %s 3 \"\" \"Hearth %s\" \"Hearth\"\n", base, toupper(name), version > file
    print ".ad l\n.nh\n.SH NAME\n" names " \\- " escape(small(about)) > file
    print ".SH SYNOPSIS\n.nf\n.B #include <" included ">" > file
}

function end_page(file, except,    i, header) {
    print ".SH SEE ALSO" > file
    if (except != base) print ".BR " base " (3)," > file
    for (i = 1; i <= page_names; i++)
        if (page_name[i] != except) print ".BR " page_name[i] " (3)," > file
    header = included
    sub(/.*\//, "", header)
    if (header != base) print ".BR " header " (3)," > file
    if (included == "vgasnet.h") print ".BR gasnet.h (3)," > file
    print ".BR hearth (1),\n.BR hearth\\-settings (7)" > file
    close(file)
}

function mentions(d, what,    words, count, i) { # whether a definition's names occur in the text of a page
    count = split(definition_words[d], words, " ")
    for (i = 1; i <= count; i++)
        if (what ~ ("(^|[^A-Za-z0-9_])" words[i] "([^A-Za-z0-9_]|$)")) return 1
    return 0
}

function put_definition(d, file) {
    if (definition_comment[d] != "") put_code(definition_comment[d], file)
    put_code(definition[d], file)
}

# One page: the functions whose blocks are marked in `wanted`, and the definitions of the section, or those that the text mentions.
function write_page(about, own_definitions,    i, b, name, names, said, file, shown, made) {
    name = names = said = ""
    made = 0
    for (i = 1; i <= functions; i++)
        if (function_block[i] in wanted) {
            if (name == "") name = function_name[i]
            if (function_prototype[i] != "" || made++ < 9) # of the hundreds that macros define, only the first are named
                names = names (names == "" ? "" : ", ") function_name[i]
            said = said " " function_prototype[i]
        }
    for (b in wanted) said = said " " block_text[b]
    file = out "/" name ".3"
    begin_page(name, names, about, file)
    for (i = 1; i <= functions; i++)
        if (function_block[i] in wanted && function_prototype[i] != "")
            put_prototype(function_prototype[i], file)
    shown = 0
    for (i = 1; i <= definitions; i++)
        if (own_definitions ? definition_block[i] in wanted || definition_page[i] == own_definitions : mentions(i, said)) {
            if (!shown++) print ".PP" > file
            put_definition(i, file)
        }
    print ".fi\n.PP\nCompile and link with the options of\n.BR \"pkg\\-config \\-\\-cflags \\-\\-libs " package "\" ." > file
    print ".SH DESCRIPTION" > file
    for (b = 1; b <= block; b++)
        if (b in wanted) put_block(b, file)
    put_links(name, file)
    end_page(file, name)
}

function put_block(b, file,    i, names, some) {
    if (block_text[b] == "" && !block_functions[b]) return
    names = ""
    some = 0
    for (i = 1; i <= functions; i++)
        if (function_block[i] == b && function_prototype[i] != "") names = names (names == "" ? "" : ", ") function_name[i]
    for (i = 1; i <= functions; i++)
        if (function_block[i] == b && function_text[i] == "" && block_text[b] == "" && !has_preface(page_of[b]))
            print "untold " function_name[i]
    if (names != "" && block_text[b] != "") print ".TP\n.B " names > file
    else if (block_text[b] != "") print ".PP" > file
    if (block_text[b] != "") {
        if (names != "") put_inside(block_text[b], file)
        else put_text(block_text[b], file)
    }
    for (i = 1; i <= functions; i++)
        if (function_block[i] == b && function_text[i] != "" && function_text[i] != "made") {
            print ".TP\n.B " function_name[i] > file
            print escape(capital(function_text[i])) > file
        }
}

# Whether a page begins with text for all its functions: a comment followed by a blank line.
function has_preface(p,    b) {
    for (b = 1; b <= block && page_of[b] <= p; b++)
        if (page_of[b] == p && (block_text[b] != "" || block_functions[b])) return !block_functions[b]
    return 0
}

function put_inside(s, file,    lines, count, i, plain) { # the text of a .TP, with its paragraphs inside the .TP
    count = split(s, lines, "\n")
    plain = 1
    for (i = 1; i <= count; i++) {
        if (lines[i] ~ /^    / && plain) { print ".IP\n.nf" > file; plain = 0 }
        else if (lines[i] !~ /^    / && lines[i] != "" && !plain) { print ".fi\n.IP" > file; plain = 1 }
        else if (lines[i] == "" && plain && lines[i + 1] !~ /^    /) { print ".IP" > file; continue }
        if (lines[i] != "") print escape(lines[i]) > file
    }
    if (!plain) print ".fi" > file
}

function put_links(name, file,    i, link) {
    for (i = 1; i <= functions; i++)
        if (function_block[i] in wanted && function_name[i] != name) {
            link = out "/" function_name[i] ".3"
            print ".so man3/" name ".3" > link
            close(link)
        }
}

function clear(array,    k) { for (k in array) delete array[k] }

function page_functions(p,    i) {
    for (i = 1; i <= functions; i++)
        if (page_of[function_block[i]] == p) return function_name[i]
    return ""
}

function head_title(    s) { # a one-line description of the header
    s = head
    sub(/^[a-z_0-9]*\.h: */, "", s)
    return first_sentence(s)
}

function write_head(    file, rest, i, p) {
    file = out "/" base ".3"
    rest = head
    sub(/^[a-z_0-9]*\.h: */, "", rest)
    begin_page(base, base, head_title(), file)
    for (i = 1; i <= definitions; i++)
        if (!sectioned || page_functions(definition_page[i]) == "") put_definition(i, file)
    print ".fi\n.SH DESCRIPTION" > file
    put_text(capital(rest), file)
    if (functions) print ".SH FUNCTIONS" > file
    for (p = 1; p <= page; p++) {
        if (page_functions(p) == "") continue
        if (page_title[p] != "") print ".TP\n.B " escape(capital(page_title[p])) > file
        for (i = 1; i <= functions; i++)
            if (page_of[function_block[i]] == p) print ".BR " function_name[i] " (3)" > file
    }
    end_page(file, base)
}

function small(s) { return s ~ /^[A-Z][A-Z]/ ? s : tolower(substr(s, 1, 1)) substr(s, 2) }

function capital(s) { return toupper(substr(s, 1, 1)) substr(s, 2) }

END {
    for (p = 1; p <= page; p++) { # names first: pages refer to each other
        if (page_functions(p) == "") continue
        if (sectioned) page_name[++page_names] = page_functions(p)
        else for (b = 1; b <= block; b++)
            if (block_functions[b])
                for (i = 1; i <= functions; i++)
                    if (function_block[i] == b) { page_name[++page_names] = function_name[i]; break }
    }
    write_head()
    for (p = 1; p <= page; p++) {
        if (page_functions(p) == "") continue
        if (sectioned) {
            clear(wanted)
            for (b = 1; b <= block; b++) if (page_of[b] == p) wanted[b] = 1
            write_page(page_title[p] != "" ? page_title[p] : head_title(), p)
        } else for (b = 1; b <= block; b++) {
            if (!block_functions[b]) continue
            clear(wanted)
            wanted[b] = 1
            write_page(first_sentence(block_text[b]), 0)
        }
    }
}
