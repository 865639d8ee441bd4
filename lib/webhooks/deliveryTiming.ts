import type { Capability } from '../app/capability.ts';
import { parseSchedule, type Timing } from './rules/schedule.ts';

/** When webhooks are attempted again, and when a message about one counts as lost. */
export const deliveryTiming: Capability<Timing> = {
  grants: [],
  env: ['WEBHOOK_RETRY_SCHEDULE', 'DUE_MARGIN_SECONDS'],
  open: (env) => ({
    schedule: parseSchedule(env.WEBHOOK_RETRY_SCHEDULE),
    marginMs: Number(env.DUE_MARGIN_SECONDS) * 1000,
  }),
};
