import { activityOps } from '../../activities/activityWriter.ts';
import { type Capability, combine } from '../../app/capability.ts';
import type { DocumentContext } from '../../content/documentScope.ts';
import type { ContentNames } from '../../content/rules/eventMetadata.ts';
import { emit } from '../../events/outbox.ts';
import type { Log } from '../../observability/log.ts';
import { ApiError } from '../../shared/errors.ts';
import { tableWith } from '../../table/storeCapability.ts';
import { itemOf, type WriteOp } from '../../table/table.ts';
import { ActivityConfigEntity } from '../../workspaces/configs/activityConfig.ts';
import { ApiKeyConfigEntity } from '../../workspaces/configs/apiKeyConfig.ts';
import type { WriteChange } from '../changeEditor.ts';
import type { EditorState } from '../editorState.ts';
import { restorePayload } from '../rules/restorePayload.ts';
import { restoreState } from '../rules/yjs/restoreState.ts';
import { findUpdateFault } from '../rules/yjs/updateFaults.ts';
import { editorName, planVersion } from './planVersion.ts';
import { unknownVersion, VersionStore } from './versionStore.ts';

const NAME_OF_KEPT = 'Before restore';

export interface Restored {
  /** Undefined if the editor already has the value of the version. */
  readonly keptVersionId: string | undefined;
}

/**
 * The change throws NOT_FOUND for an unknown editor or version, FAILED_PRECONDITION if the version cannot be restored,
 * RESOURCE_EXHAUSTED if there is no room for the version of the present state, and ABORTED after too many conflicts.
 */
type RestoreVersion = (
  request: {
    readonly editorId: string;
    readonly versionId: string;
    readonly keptVersionId: string;
    readonly log: Log;
  },
  restored: (result: Restored) => void,
) => WriteChange;

export const restoreVersion: Capability<RestoreVersion> = /* @__PURE__ */ combine(
  { table: /* @__PURE__ */ tableWith(['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'DeleteItem', 'BatchWriteItem']) },
  ({ table }): RestoreVersion =>
    ({ editorId, versionId, keptVersionId, log }, restored) =>
    async (editors, context, author) => {
      const { scope, organization, document } = context;
      const store = new VersionStore(table);
      const [config, activityConfig] = await table.batchGet(
        itemOf(ApiKeyConfigEntity, { tenant: scope.tenant }),
        itemOf(ActivityConfigEntity, { tenant: scope.tenant }),
      );
      return editors.changeWith(context, editorId, author, async (state, doc) => {
        const { head } = state;
        const editor = editorName(scope, state);
        const [version, repeated] = await store.findEach(editor, [versionId, keptVersionId]);
        if (repeated) {
          restored({ keptVersionId });
          return undefined;
        }
        if (!version) throw unknownVersion();
        const { update, fault } = restoreState(doc, head.contentKey, await store.readState(editor, version));
        const refusal = fault ?? (update && findUpdateFault(doc, head.type, head.contentKey, update, true));
        if (refusal !== undefined)
          throw new ApiError('FAILED_PRECONDITION', `The version cannot be restored. ${refusal}`);
        if (!update) {
          restored({ keptVersionId: undefined });
          return undefined;
        }
        const plan = await planVersion(table, scope, state, {
          versionId: keptVersionId,
          name: NAME_OF_KEPT,
          isAutomatic: true,
          restoredVersionId: versionId,
          now: author.now,
          settings: config?.editorVersions ?? undefined,
          log,
        });
        restored({ keptVersionId });
        const names = { apiKey: scope.tenant, organization, document };
        const told: Told = {
          versionId,
          versionName: version.name,
          keptVersionId,
          userId: author.userId,
          now: author.now,
        };
        return {
          update,
          hasVersion: true,
          ops: [
            ...plan.ops,
            ...restoreEvent(names, state, told),
            ...(activityConfig?.isEnabled ? restoreActivity(context, state, told) : []),
          ],
          finish: plan.finish,
        };
      });
    },
);

interface Told {
  readonly versionId: string;
  readonly versionName: string | undefined;
  readonly keptVersionId: string;
  readonly userId: string | undefined;
  readonly now: number;
}

function causeOf({ head, newest }: EditorState) {
  return { type: 'Editor', id: head.internalId, revision: newest.version } as const;
}

function restoreEvent(names: ContentNames, state: EditorState, { userId = '', now, ...told }: Told): WriteOp[] {
  const event = {
    event: 'crdt.version_restore',
    cause: causeOf(state),
    organizationId: names.organization.organizationId,
    documentId: names.document.documentId,
    payload: restorePayload(names, { editorId: state.head.editorId, userId, ...told }),
  } as const;
  return emit(names.apiKey, event, now);
}

/** None for a restore without a user, because an activity needs one. */
function restoreActivity(
  { scope, document }: DocumentContext,
  state: EditorState,
  { userId, now, versionId, versionName, keptVersionId }: Told,
): WriteOp[] {
  if (userId === undefined) return [];
  const activity = {
    cause: causeOf(state),
    featureType: 'crdt',
    actionType: 'crdt.version_restore',
    actionUser: { userId },
    targetEntityId: state.head.editorId,
    targetSubEntityId: versionId,
    entityTargetData: { versionId, name: versionName, keptVersionId },
    displayMessageTemplate: '{{actionUser}} restored a version',
    displayMessageTemplateData: { actionUser: userId },
  } as const;
  return activityOps(scope, { document }, activity, now);
}
