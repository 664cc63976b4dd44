import { render } from 'preact';
import { loadSession } from './session.js';
import { Shell } from './shell/Shell.js';

render(<Shell />, document.getElementById('portal')!);
void loadSession();
