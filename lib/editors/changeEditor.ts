import { type Capability, combine } from '../app/capability.ts';
import {
  type DocumentContext,
  type DocumentReference,
  type DocumentScope,
  type FindDocument,
  findWritableDocument,
} from '../content/documentScope.ts';
import { notifyJobs } from '../jobs/jobStore.ts';
import type { Log } from '../observability/log.ts';
import * as logMessages from '../observability/logMessages.ts';
import { tableWith } from '../table/storeCapability.ts';
import type { QueueSender } from '../workers/sender.ts';
import * as sendTo from '../workers/sendTo.ts';
import { compactLog } from './compaction.ts';
import { type Author, type Changed, changeEditors, type EditorLog } from './editorLog.ts';
import { DEBOUNCE_MS } from './eventJob.ts';

type EditorChange = DocumentReference & Omit<Author, 'now'> & { readonly editorId: string };

export type WriteChange = (editors: EditorLog, context: DocumentContext, author: Author) => Promise<Changed>;

/**
 * Throws the errors of `FindDocument` and of `change`. After the change, sends the message of the event job, and
 * `changeEditor` replaces a long log by a snapshot. Failures of both are logged and not thrown: the sweep replaces a
 * lost message, and a later change repeats the snapshot.
 */
type ChangeEditor = (
  tenant: string,
  request: EditorChange,
  change: WriteChange,
  call: { readonly now: number; readonly log: Log },
) => Promise<Changed>;

export const changeEditor: Capability<ChangeEditor> = /* @__PURE__ */ combine(
  {
    findDocument: findWritableDocument,
    editors: changeEditors,
    table: /* @__PURE__ */ tableWith(['Query', 'PutItem', 'BatchWriteItem']),
    jobs: sendTo.jobs,
  },
  ({ table, ...ports }) => changeEditorWith(ports, (scope, editorId, now) => compactLog(table, scope, editorId, now)),
);

/** A log with one change is never compacted, so this needs no permission to delete items. */
export const createEditor: Capability<ChangeEditor> = /* @__PURE__ */ combine(
  { findDocument: findWritableDocument, editors: changeEditors, jobs: sendTo.jobs },
  (ports) => changeEditorWith(ports),
);

interface ChangePorts {
  readonly findDocument: FindDocument;
  readonly editors: EditorLog;
  readonly jobs: QueueSender;
}

function changeEditorWith(
  { findDocument, editors, jobs }: ChangePorts,
  compact?: (scope: DocumentScope, editorId: string, now: number) => Promise<void>,
): ChangeEditor {
  return async (tenant, request, change, { now, log }) => {
    const context = await findDocument(tenant, request);
    const changed = await change(editors, context, { ...request, now });
    const { eventJob, isDueForCompaction } = changed;
    await Promise.all([
      eventJob && notifyJobs(jobs, [eventJob], log, DEBOUNCE_MS / 1000),
      isDueForCompaction &&
        compact?.(context.scope, request.editorId, now).catch((error: unknown) => {
          log.error(logMessages.editorCompactionFailed, { error });
        }),
    ]);
    return changed;
  };
}
