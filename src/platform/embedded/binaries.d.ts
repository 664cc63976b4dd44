/**
 * The folder with PostgreSQL's `bin`, `lib` and `share`, from this platform's npm package, complete and
 * runnable: what npm left out (links and run bits, with --ignore-scripts) is put back. Safe to call from
 * several processes at once.
 */
export declare function prepareBinaries(): Promise<string>;
