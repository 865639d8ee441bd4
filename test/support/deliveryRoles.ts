import { chatComposer } from '../../lib/chat/chatComposer.ts';
import { fanOutCapability } from '../../lib/fanOut/fanOut.ts';
import { outboxSweep } from '../../lib/fanOut/sweepOutbox.ts';
import { updateJobs } from '../../lib/jobs/jobStore.ts';
import { jobSweep } from '../../lib/jobs/jobSweep.ts';
import { mailComposer } from '../../lib/mail/mailComposer.ts';
import { mailSweep } from '../../lib/mail/mailSweep.ts';
import { mailSending } from '../../lib/mail/sendMail.ts';
import { collectsEntries } from '../../lib/mail/waiting/collectEntriesStep.ts';
import { attemptsFrom } from '../../lib/webhooks/attempt.ts';
import { releaseParked } from '../../lib/webhooks/releaseParked.ts';
import { deliverySweep, endpointHealthSweep, firstAttemptSweep } from '../../lib/webhooks/sweepDeliveries.ts';
import { readDueIndexes } from '../../lib/workers/dueShards.ts';
import * as sendTo from '../../lib/workers/sendTo.ts';
import { roleOf } from './permissions.ts';

/**
 * The roles of the workers that deliver webhooks and mails. They have the capabilities that the simulations of the workers use, not
 * those of the whole worker.
 */
export const deliveryRoles = {
  deliverWebhook: roleOf('deliverWebhook', [attemptsFrom('deliver')]),
  fanOutEvents: roleOf('fanOutEvents', [fanOutCapability]),
  sendEmail: roleOf('sendEmail', [mailSending, mailComposer, chatComposer]),
  runJobs: roleOf('runJobs', [updateJobs, releaseParked, collectsEntries, sendTo.jobs]),
  sweep: roleOf('sweep', [readDueIndexes, sendTo.sweep, endpointHealthSweep]),
  sweepShard: roleOf('sweepShard', [outboxSweep, jobSweep, mailSweep, deliverySweep, firstAttemptSweep]),
};
