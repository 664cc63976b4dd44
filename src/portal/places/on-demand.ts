/** All but the list of webhooks and the log: one script, loaded when something of it is opened. */
export { Account } from './account/Account.js';
export { DeliveryPanel } from './deliveries/DeliveryPanel.js';
export { SendAgain } from './deliveries/SendAgain.js';
export { Doctor } from './doctor/Doctor.js';
export { Inbox } from './inbox/Inbox.js';
export { Recover } from './recover/Recover.js';
export { QuickStart } from './quick-start/QuickStart.js';
export { Shipments } from './shipments/Shipments.js';
export { Tokens } from './tokens/Tokens.js';
export { SecretDialog } from './webhooks/Secret.js';
export { TestDialog } from './webhooks/Test.js';
export { WebhookForm } from './webhooks/WebhookForm.js';
export { WebhookPage } from './webhooks/WebhookPage.js';
