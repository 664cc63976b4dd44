/** How many files and connections this process may have open (`ulimit -n`); where no `/proc` tells, the least usual. */
export declare function openFilesLimit(): number;
