/** Whether this service has an inbox (development only): the page that it serves says so. */
export const hasInbox =
  document.querySelector('meta[name="parcelhook-inbox"]')?.getAttribute('content') === 'on';
