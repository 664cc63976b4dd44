/** `npm run config-table`: makes the table of the README's "Configuration" anew, from src/config/variables.ts. */
import { withTable } from './config-table.js';
import { readReadme, writeReadme } from './readme.js';

writeReadme(withTable(readReadme()));
