import { retryOnConflict } from '../table/retryOnConflict.ts';
import { inTransactions, type Table } from '../table/table.ts';
import {
  commit,
  type CommitTarget,
  fitsTransaction,
  type LoadedThread,
  MAX_OPERATIONS,
  type ThreadChanges,
  type ThreadTransaction,
  threadTransaction,
} from './commitThread.ts';
import { NOT_FOUND, TOO_MANY_USERS } from './rules/decideComments.ts';
import { type Decided, type Refusals, unchanged } from './rules/threadParts.ts';

export interface CommentCommand {
  readonly target: CommitTarget;
  /** Returns undefined if the thread does not exist. */
  readonly read: (ids: readonly number[]) => Promise<LoadedThread | 'conflict' | undefined>;
  readonly decide: (before: LoadedThread, ids: readonly number[]) => ThreadChanges & Decided<Refusals>;
  readonly toTransaction?: (target: CommitTarget, before: LoadedThread, changes: ThreadChanges) => ThreadTransaction;
}

/**
 * Runs a command about comments in few transactions. After a conflict, only the comments that are not written yet are
 * read and decided again. `known` is what the caller has just read.
 */
export async function commitInParts(
  table: Table,
  ids: readonly number[],
  command: CommentCommand,
  known?: LoadedThread,
): Promise<Refusals> {
  const refusals: (string | undefined)[] = [];
  let current = known;
  while (refusals.length < ids.length) {
    const rest = ids.slice(refusals.length);
    const part = await retryOnConflict(async () => {
      const before = current ?? (await command.read(rest));
      current = undefined;
      if (before === 'conflict') return before;
      if (!before) return rest.map(() => NOT_FOUND);
      const { changes, transaction } = planPart(command, before, rest);
      if ((await commit(table, transaction)) === 'conflict') return 'conflict';
      const { thread } = changes.after;
      const revision = before.thread._r + (thread === before.thread ? 0 : 1);
      current = thread && ({ ...before, ...changes.after, thread: { ...thread, _r: revision } } as LoadedThread);
      return changes.result;
    });
    refusals.push(...part);
  }
  return refusals;
}

function planPart(
  command: CommentCommand,
  before: LoadedThread,
  ids: readonly number[],
): { readonly changes: Decided<Refusals>; readonly transaction: ThreadTransaction } {
  const { target, toTransaction = threadTransaction } = command;
  const plan = (part: readonly number[]) => {
    const changes = command.decide(before, part);
    return { changes, transaction: toTransaction(target, before, changes) };
  };
  const whole = plan(ids);
  if (fitsTransaction(whole.transaction.ops)) return whole;
  if (ids.length === 1) return { changes: unchanged(before, [TOO_MANY_USERS]), transaction: { ops: [] } };
  // The first operation writes the head, once per transaction.
  const units = ids.map((id) => ({ ops: plan([id]).transaction.ops.slice(1) }));
  const [first = []] = inTransactions(units, { operations: MAX_OPERATIONS - 1 });
  return planPart(command, before, ids.slice(0, Math.min(first.length, ids.length - 1)));
}
