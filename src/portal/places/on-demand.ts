/** Places that are opened now and then: one script, loaded when the first of them is. The rest is the first load. */
export { Doctor } from './doctor/Doctor.js';
export { Inbox } from './inbox/Inbox.js';
export { Recover } from './recover/Recover.js';
export { QuickStart } from './webhooks/QuickStart.js';
