# section.awk: prints a gnuplot script with only one of its drawings: the text from the want-th "set output" or block in braces up to
# the next. All other settings stay, because later drawings depend on them. -v want=0: prints the number of drawings.
{
    opens = gsub(/{/, "{"); closes = gsub(/}/, "}")
    section += depth == 0 && (/^ *set output/ || opens > closes)
    drawing = depth > 0 || opens > closes || continued || /^ *(set output|s?plot |set multiplot|unset multiplot)/
    continued = /\\$/ && (continued || /^ *s?plot /)
    depth += opens - closes
}
want && (section == want || !drawing)
END { if (!want) print section }
