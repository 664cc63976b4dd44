/** The page that the service serves says what it has. */
const has = (name: string) =>
  document.querySelector(`meta[name="parcelhook-${name}"]`)?.getAttribute('content') === 'on';

/** An inbox: for development only. */
export const hasInbox = has('inbox');
/** An account that the service itself has made and greeted with: never in production. */
export const hasGreeting = has('greeting');
