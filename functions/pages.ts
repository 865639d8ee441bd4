/** The registry of pages and assets. An asset is a public file, such as the API reference. */
export { asset as docs } from './docs.ts';
export { asset as openapi } from './openapi.json.ts';
export { page as workspaceEmailVerify } from './v2/workspace/email/verify.ts';
export { page as notificationsEmailUnsubscribe } from './v2/notifications/email/unsubscribe.ts';
