/** `npm run config-table`: writes the table of docs/configuration.md from src/config/variables.ts. */
import { page, withTable } from './config-table.js';
import { readTracked, writeTracked } from '../support/project-files.js';

writeTracked(page, withTable(readTracked(page)));
