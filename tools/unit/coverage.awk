# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
#
# Picks the module's own files out of what gcov prints, and fails when one has fewer than
# "least" percent of its lines run.

/^File / {
	file = $2
	gsub(/'/, "", file)
	sub(/.*\//, "", file)
}

/^Lines executed:/ && (file == "wire.c" || file == "names.c") {
	percent = $2
	sub(/executed:/, "", percent)
	printf "%s: %s of %s lines run\n", file, percent, $4
	seen++
	if (percent + 0 < least)
		low = 1
	file = ""
}

END {
	if (seen != 2 || low) {
		printf "coverage is below %d %%\n", least
		exit 1
	}
}
