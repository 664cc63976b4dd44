/** The page of the API: RapiDoc shows the document that is in the page, in the page's colours. */
import 'rapidoc';

const viewer = document.querySelector<HTMLElement & { loadSpec(spec: unknown): Promise<void> }>('rapi-doc')!;
const dark = matchMedia('(prefers-color-scheme: dark)');
/** Below this width RapiDoc hides its navigation; a list of all operations takes its place. */
const narrow = matchMedia('(max-width: 767px)');

function dress(): void {
  const styles = getComputedStyle(document.documentElement);
  const color = (name: string) => styles.getPropertyValue(`--${name}`).trim();
  const attributes = {
    theme: dark.matches ? 'dark' : 'light',
    'render-style': narrow.matches ? 'view' : 'focused',
    'bg-color': color('page'),
    'text-color': color('text'),
    'primary-color': color('accent'),
    'nav-bg-color': color('panel'),
    'nav-text-color': color('text'),
    'nav-hover-bg-color': color('line'),
    'nav-hover-text-color': color('text'),
    'nav-accent-color': color('accent'),
  };
  for (const [name, value] of Object.entries(attributes)) viewer.setAttribute(name, value);
}

for (const query of [dark, narrow]) query.addEventListener('change', dress);
dress();

/**
 * RapiDoc has no attributes for these: colours with enough contrast, one word for a notification, and on a phone the
 * summary of each operation.
 */
const ours = new CSSStyleSheet();
ours.replaceSync(`
  *, :host { --blue: var(--get); --green: var(--post); --orange: var(--patch); --yellow: var(--patch); --red: var(--delete) }
  .nav-bar .nav-method.as-colored-text:is(.patch, .put) { color: var(--patch) }
  .nav-method + span { display: none }
  .endpoint-body { position: relative }
  .endpoint-head { flex-wrap: wrap }
  .endpoint-head .descr { display: block; flex-basis: 100% }
`);
viewer.shadowRoot!.adoptedStyleSheets.push(ours);

void viewer.loadSpec(JSON.parse(document.querySelector('#document')!.textContent));
