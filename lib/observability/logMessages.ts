/**
 * Every log message, as `<object> <what happened>`. Saved queries filter by them. Each is a constant, so a bundle
 * contains only those that it uses.
 */

// Requests
export const requestCompleted = 'request completed';
export const responseTrimmed = 'response trimmed';
export const rateLimitUpdateFailed = 'rate limit update failed';

// Workers
export const workerRunCompleted = 'worker run completed';
export const workerRunFailed = 'worker run failed';
export const queueMessageFailed = 'queue message failed';
export const streamRecordFailed = 'stream record failed';
export const sweepFailed = 'sweep failed';
export const heartbeatFailed = 'heartbeat failed';
export const jobLeaseHeld = 'job lease held by another worker';
export const queueMessagesNotSent = 'queue messages not sent';

// Events and webhooks
export const eventFanOutFailed = 'event fan-out failed';
export const webhookAttemptFailed = 'webhook attempt failed';
export const webhookAttemptResultDiscarded = 'webhook attempt result discarded';
export const webhookAttemptNotRecorded = 'webhook attempt not recorded';
export const webhookBacklogUnknown = 'webhook backlog unknown';
export const webhookEndpointDisabled = 'webhook endpoint disabled';
export const webhookMessagesRecovered = 'webhook messages recovered';
export const webhookSecretRead = 'webhook secret read';
export const webhookSecretRotated = 'webhook secret rotated';
export const endpointHealthUpdateFailed = 'endpoint health update failed';
export const ownerNotificationFailed = 'owner notification failed';

// Mail
export const mailSkipped = 'mail skipped';
export const mailAttemptFailed = 'mail attempt failed';
export const mailFailed = 'mail failed';
export const mailClaimLost = 'mail claim lost to another worker';
export const mailProviderPaused = 'mail provider paused';
export const mailNotConfigured = 'mail not configured';
export const waitingEntriesDropped = 'waiting entries dropped';
export const mailUnsubscribed = 'mail unsubscribed';

// Live
export const livePublishFailed = 'live publish failed';

// Workspaces
export const loginLinkSent = 'login link sent';
export const workspaceOwnerVerified = 'workspace owner verified';

// Content
export const agentFileRead = 'agent file read by model';
export const editorCompactionFailed = 'editor compaction failed';
export const editorVersionCleanupFailed = 'cleanup after a version of an editor failed';
export const editorVersionsFull = 'editor has no room for automatic versions';
export const judgmentEmbeddingDelayed = 'judgment embedding delayed';
export const embeddingModelChangeFailed = 'embedding model change failed';
export const userErasureStarted = 'user erasure started';
