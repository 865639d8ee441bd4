import { combine } from '../app/capability.ts';
import type { DocumentContext } from '../content/documentScope.ts';
import { findRecords } from '../content/recordIds.ts';
import type { Viewer } from '../content/rules/viewer.ts';
import { ReactionEntity } from '../reactions/reactions.ts';
import type { Reaction } from '../reactions/rules.ts';
import { accessDenied } from '../shared/accessDenied.ts';
import { distinct } from '../shared/collections.ts';
import type { Stored } from '../table/entity.ts';
import { tableWith } from '../table/storeCapability.ts';
import type { Table } from '../table/table.ts';
import { type VisibleThreads, visibleThreads } from './visibleThreads.ts';

interface SentReaction {
  readonly annotationId?: string | undefined;
  readonly commentAnnotationId?: string | undefined;
}

/** Checks requests of users. Without a `viewer`, nothing is checked. */
export class VisibleReactions {
  readonly #table: Table;
  readonly #threads: VisibleThreads;

  constructor(table: Table, threads: VisibleThreads) {
    this.#table = table;
    this.#threads = threads;
  }

  /** Throws PERMISSION_DENIED if the thread of a target does not exist or is hidden. */
  async requireTargets(
    context: DocumentContext,
    viewer: Viewer | undefined,
    sent: readonly SentReaction[],
    now: number,
  ): Promise<void> {
    if (!viewer) return;
    const stored = await this.#find(context, distinct(sent.flatMap(({ annotationId }) => annotationId ?? [])));
    const threadIds = [
      ...sent.flatMap(({ commentAnnotationId }) => commentAnnotationId ?? []),
      ...stored.flatMap((reaction) => reaction?.on?.annotationId ?? []),
    ];
    await this.#threads.require(context, viewer, distinct(threadIds), { now });
  }

  /**
   * Throws PERMISSION_DENIED if a reaction does not exist, if the user has not made it, or if its thread is deleted or
   * hidden.
   */
  async requireOwn(
    context: DocumentContext,
    viewer: Viewer | undefined,
    annotationIds: readonly string[],
    now: number,
  ): Promise<void> {
    if (!viewer) return;
    const stored = await this.#find(context, annotationIds);
    const isOwn = (reaction: Reaction | undefined) =>
      reaction !== undefined && reaction.fromUsers.some(({ from }) => from.userId === viewer.userId);
    if (!stored.every(isOwn)) throw accessDenied();
    const threadIds = distinct(stored.flatMap((reaction) => reaction?.on?.annotationId ?? []));
    await this.#threads.require(context, viewer, threadIds, { now });
  }

  async #find(
    { scope, document: { documentId } }: DocumentContext,
    annotationIds: readonly string[],
  ): Promise<(Stored<Reaction> | undefined)[]> {
    return findRecords(this.#table, ReactionEntity, scope, { kind: 'reaction', documentId, ids: annotationIds });
  }
}

export const visibleReactions = /* @__PURE__ */ combine(
  { table: /* @__PURE__ */ tableWith(['BatchGetItem']), threads: visibleThreads },
  ({ table, threads }) => new VisibleReactions(table, threads),
);
