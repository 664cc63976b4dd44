import { render } from 'preact';
import { placeAt } from './places.js';
import { path } from './router.js';
import { loadSession } from './session.js';
import { Shell } from './shell/Shell.js';

render(<Shell />, document.getElementById('portal')!);
placeAt(path.value)?.place.Component.preload(); // while the session is read
void loadSession();
