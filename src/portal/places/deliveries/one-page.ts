import { signal } from '@preact/signals';

/** As in log.css: there is no room beside the list. */
const narrow = matchMedia('(max-width: 64rem)');

export const isOnePage = signal(narrow.matches);
narrow.addEventListener('change', () => (isOnePage.value = narrow.matches));
