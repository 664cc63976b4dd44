/** `npm run drawing`: makes the drawing of the folders in docs/architecture.md anew, from the imports. */
import { readFileSync, writeFileSync } from 'node:fs';
import { withDrawing } from './drawing.js';

const file = new URL('../../docs/architecture.md', import.meta.url);
writeFileSync(file, withDrawing(readFileSync(file, 'utf8')));
