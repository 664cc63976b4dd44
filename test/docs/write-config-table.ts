/** `npm run config-table`: writes the configuration table of the README from src/config/variables.ts. */
import { withTable } from './config-table.js';
import { readReadme, writeReadme } from '../support/project-files.js';

writeReadme(withTable(readReadme()));
