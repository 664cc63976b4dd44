import { render } from 'preact';

render(<h1>Parcelhook</h1>, document.getElementById('portal')!);
