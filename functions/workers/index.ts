/** The registry of workers. If a function imported it, its bundle would contain the code of all workers. */
export { worker as authorizeLive } from './authorizeLive.ts';
export { worker as deliverWebhook } from './deliverWebhook.ts';
export { worker as deliverWebhookSlow } from './deliverWebhookSlow.ts';
export { worker as embedJudgments } from './embedJudgments.ts';
export { worker as fanOutEvents } from './fanOutEvents.ts';
export { worker as heartbeat } from './heartbeat.ts';
export { worker as publishLive } from './publishLive.ts';
export { worker as runJobs } from './runJobs.ts';
export { worker as sendEmail } from './sendEmail.ts';
export { worker as sweep } from './sweep.ts';
export { worker as sweepShard } from './sweepShard.ts';
