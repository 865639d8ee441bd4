import { type Capability, combine } from '../app/capability.ts';
import { type DocumentReference, findWritableDocument } from '../content/documentScope.ts';
import { notifyJobs } from '../jobs/jobStore.ts';
import type { Log } from '../observability/log.ts';
import * as sendTo from '../workers/sendTo.ts';
import { type StartedJob, watchLease } from './endPresenceStep.ts';
import { changePresence } from './presences.ts';
import type { Renewal, SentUser } from './rules.ts';

/**
 * Throws INVALID_ARGUMENT for an unknown organization, NOT_FOUND for an unknown document, FAILED_PRECONDITION for an
 * organization or document that can only be read, and ABORTED after too many conflicts.
 */
type RenewPresence = (
  tenant: string,
  reference: DocumentReference & { readonly users: readonly SentUser[] },
  renewal: Renewal,
  log: Log,
) => Promise<void>;

export const renewPresences: Capability<RenewPresence> = /* @__PURE__ */ combine(
  { findWritableDocument, presences: changePresence, queue: sendTo.jobs },
  ({ findWritableDocument: find, presences, queue }): RenewPresence =>
    async (tenant, { users, ...reference }, renewal, log) => {
      const { scope } = await find(tenant, reference);
      const jobs = new Map<string, StartedJob>();
      await presences.renew(scope, users, {
        ...renewal,
        watch(presence) {
          const job = watchLease(scope, presence, renewal.now);
          if (job) jobs.set(presence.userId, job);
          return job?.op;
        },
      });
      for (const { message, delaySeconds } of jobs.values()) await notifyJobs(queue, [message], log, delaySeconds);
    },
);
