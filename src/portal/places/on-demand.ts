/** All places but the list of webhooks and the log, and the form of a webhook: one script, loaded when one is opened. */
export { Doctor } from './doctor/Doctor.js';
export { Inbox } from './inbox/Inbox.js';
export { Recover } from './recover/Recover.js';
export { QuickStart } from './quick-start/QuickStart.js';
export { Shipments } from './shipments/Shipments.js';
export { Tokens } from './tokens/Tokens.js';
export { WebhookForm } from './webhooks/WebhookForm.js';
export { WebhookPage } from './webhooks/WebhookPage.js';
