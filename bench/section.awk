# section.awk: a gnuplot script with only one of its drawings: what follows the want-th "set output" or block in braces, up to the next. All
# other settings stay, as they hold for what comes behind them. -v want=0: prints how many there are.
{
    opens = gsub(/{/, "{"); closes = gsub(/}/, "}")
    section += depth == 0 && (/^ *set output/ || opens > closes)
    drawing = depth > 0 || opens > closes || continued || /^ *(set output|s?plot |set multiplot|unset multiplot)/
    continued = /\\$/ && (continued || /^ *s?plot /)
    depth += opens - closes
}
want && (section == want || !drawing)
END { if (!want) print section }
