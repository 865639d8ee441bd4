import * as z from 'zod';
import { ContentUser, StoredUser } from '../content/rules/contentUser.ts';
import { RecordNames, type ResponseNames } from '../content/rules/eventMetadata.ts';
import {
  changedFieldsWithoutPersonal,
  isRecordBy,
  type RemovedUsers,
  withChanges,
} from '../content/rules/removedUsers.ts';
import { isLongerThan } from '../shared/bytes.ts';
import { definedFields, isObject } from '../shared/collections.ts';
import { ApiError } from '../shared/errors.ts';
import { fromJsonFields, toJsonFields } from '../shared/jsonFields.ts';
import {
  AnyObject,
  defineNamedSchema,
  defineSchema,
  Id,
  JsonValue,
  limits,
  list,
  Name,
  OpenObject,
  optional,
  PageSize,
  PageToken,
  Text,
} from '../shared/schema.ts';
import { type ActivityConfig, initialActivityConfig } from '../workspaces/rules/activityConfig.ts';
import type { commentVerbs } from '../workspaces/rules/groupedTriggers.ts';

export const featureTypes = ['comment', 'reaction', 'recorder', 'crdt', 'custom'] as const;
export type FeatureType = (typeof featureTypes)[number];

const Changes = /* @__PURE__ */ defineSchema(() =>
  OpenObject.check(
    z.refine((changes) => Object.values(changes).every(isObject), {
      error: 'must map each field to an object of from and to',
    }),
  ),
);

const details = /* @__PURE__ */ defineSchema(() => ({
  changes: optional(Changes).describe('The changed fields by name, each with its values as `{ from, to }`.'),
  entityData: optional(JsonValue).describe('Any JSON value: the object that the activity is about, as it was then.'),
  entityTargetData: optional(JsonValue).describe(
    'Any JSON value: the part of the object, such as a comment, as it was then.',
  ),
  displayMessageTemplate: optional(Text).describe(
    'The sentence that users see. Clients replace its `{{variable}}` placeholders.',
  ),
  displayMessageTemplateData: optional(OpenObject).describe('The values of the placeholders, by name.'),
  actionIcon: optional(Text).describe('A picture for the activity, in a form of your choice.'),
}));

export const NewActivity = /* @__PURE__ */ defineNamedSchema('ActivityInput', () =>
  z
    .object({
      id: optional(Id).describe(
        'The id of the activity, unique in the organization. By default the service chooses one. One that exists is overwritten.',
      ),
      featureType: z.enum(featureTypes).describe('The feature that the activity is about. `custom` for your own.'),
      actionType: Name.describe(
        'What was done, in words of your own. The service itself uses event types, such as `comment.add`.',
      ),
      actionUser: ContentUser.describe('The user who did it.'),
      targetEntityId: optional(Id).describe(
        'The object that the activity is about, by its id. For `comment` and `reaction` the comment thread.',
      ),
      targetSubEntityId: optional(Id).describe(
        'The part of the object, by its id. For `comment` the number of the comment.',
      ),
      ...details,
      isActivityResolverUsed: optional(z.boolean()).describe(
        'True if clients load the texts from your server. By default false.',
      ),
    })
    .check(
      z.refine(({ featureType, targetEntityId }) => featureType !== 'custom' || targetEntityId !== undefined, {
        path: ['targetEntityId'],
        error: 'is required when featureType is custom',
      }),
    )
    .describe('An activity to add.'),
);
export type NewActivity = z.output<typeof NewActivity>;

export const ActivityChange = /* @__PURE__ */ defineNamedSchema('ActivityChange', () =>
  z
    .object({ id: Id.describe('The activity to change.'), ...details })
    .check(
      z.refine(({ id: _, ...change }) => Object.values(change).some((value) => value !== undefined), {
        error: 'must have a field to change besides id',
      }),
    )
    .describe('A change of one activity. Fields that are not sent stay.'),
);
export type ActivityChange = z.output<typeof ActivityChange>;

/** The fields in `jsonFields` are JSON text. */
export const Activity = /* @__PURE__ */ defineSchema(() =>
  z.object({
    id: z.string().describe('The activity, by your id or the one that the service chose.'),
    featureType: z.enum(featureTypes).describe('The feature that the activity is about.'),
    actionType: z.string().describe('What was done: an event type, such as `comment.add`, or words of yours.'),
    actionUser: StoredUser.describe('The user who did it.'),
    targetEntityId: z
      .string()
      .describe('The object that the activity is about, by its id. For `comment` and `reaction` the comment thread.')
      .optional(),
    targetSubEntityId: z
      .string()
      .describe('The part of the object, by its id. For `comment` the number of the comment.')
      .optional(),
    changes: z.string().optional(),
    entityData: z.string().optional(),
    entityTargetData: z.string().optional(),
    displayMessageTemplate: z
      .string()
      .describe('The sentence that users see. Clients replace its `{{variable}}` placeholders.')
      .optional(),
    displayMessageTemplateData: z.string().optional(),
    actionIcon: z.string().describe('A picture for the activity, as it was sent.').optional(),
    isActivityResolverUsed: z
      .boolean()
      .describe('True if clients load the texts from the server of the customer.')
      .optional(),
    documentId: z.string(),
    /** When the activity was first added, epoch ms. `timestamp` in responses. */
    createdAt: z.number(),
  }),
);
export type Activity = z.output<typeof Activity>;

/** `targetEntityId` of such an activity is the id of the thread. */
const threadFeatures: readonly string[] = ['comment', 'reaction'];

export function threadIdOf({
  featureType,
  targetEntityId,
}: {
  readonly featureType: string;
  readonly targetEntityId?: string | undefined;
}): string | undefined {
  return threadFeatures.includes(featureType) ? targetEntityId : undefined;
}

/**
 * Undefined if the activity is not about a comment, or if `targetSubEntityId` does not have the form of a comment's id.
 */
export function commentIdOf({
  featureType,
  targetSubEntityId,
}: Pick<Activity, 'featureType' | 'targetSubEntityId'>): number | undefined {
  return featureType === 'comment' && /^(0|[1-9]\d{0,15})$/.test(targetSubEntityId ?? '')
    ? Number(targetSubEntityId)
    : undefined;
}

export const ActivityResponse = /* @__PURE__ */ defineNamedSchema('Activity', () =>
  z
    .object({
      ...Activity.omit({ documentId: true, createdAt: true }).shape,
      changes: AnyObject.describe('The changed fields by name, each with its values as `{ from, to }`.').optional(),
      entityData: z.unknown().describe('The object that the activity is about, as it was then.').optional(),
      entityTargetData: z.unknown().describe('The part of the object, such as a comment, as it was then.').optional(),
      displayMessageTemplateData: AnyObject.describe('The values of the placeholders, by name.').optional(),
      metadata: RecordNames,
      timestamp: z.number().describe('When the activity was first added, in epoch milliseconds.'),
    })
    .describe('Something that a user did.'),
);
export type ActivityResponse = z.output<typeof ActivityResponse>;

const jsonFields = ['changes', 'entityData', 'entityTargetData', 'displayMessageTemplateData'] as const;

export function toActivity(
  sent: Omit<NewActivity, 'id'>,
  fixed: Pick<Activity, 'id' | 'documentId' | 'createdAt'>,
): Activity {
  return { ...sent, ...toJsonFields(jsonFields, sent), ...fixed } as Activity;
}

export function changeActivity(stored: Activity, { id: _, ...change }: ActivityChange): Activity {
  return { ...stored, ...definedFields({ ...change, ...toJsonFields(jsonFields, change) }) } as Activity;
}

export function toActivityResponse(
  { apiKey, organizationId }: ResponseNames,
  activity: Activity & { readonly _r?: number },
): ActivityResponse {
  const { documentId, createdAt, _r: _, ...fields } = activity;
  return {
    ...fields,
    ...fromJsonFields(jsonFields, activity),
    metadata: { apiKey, documentId, organizationId },
    timestamp: createdAt,
  } as ActivityResponse;
}

export const ActivityListing = /* @__PURE__ */ defineSchema(() =>
  z.object({
    organizationId: Id,
    documentId: optional(Id).describe(
      'The document whose activities are listed. By default those of the whole organization. Required with a user token.',
    ),
    targetEntityId: optional(Id).describe('Only activities about this object, such as a comment thread.'),
    featureTypes: optional(list(z.enum(featureTypes), limits.readIds)).describe(
      'Only activities about these features.',
    ),
    actionTypes: optional(list(Name, limits.readIds)).describe('Only activities of these kinds.'),
    userId: optional(Id).describe('Only activities of this user.'),
    activityIds: optional(list(Id, limits.readIds)).describe('Only the activities with these ids.'),
    order: optional(z.enum(['asc', 'desc'])).describe(
      'The order of the times within each document. By default `desc`, the latest first.',
    ),
    pageSize: optional(PageSize),
    pageToken: optional(PageToken),
  }),
);

/** An activity must match every given field. */
export interface ActivityFilter {
  readonly targetEntityId?: string | undefined;
  readonly featureTypes?: readonly FeatureType[] | undefined;
  readonly actionTypes?: readonly string[] | undefined;
  readonly userId?: string | undefined;
}

export function matchesFilter(
  { targetEntityId, featureTypes, actionTypes, userId }: ActivityFilter,
  activity: Activity,
): boolean {
  return (
    (targetEntityId === undefined || activity.targetEntityId === targetEntityId) &&
    (featureTypes?.includes(activity.featureType) ?? true) &&
    (actionTypes?.includes(activity.actionType) ?? true) &&
    (userId === undefined || activity.actionUser.userId === userId)
  );
}

/** Activity logs and the trigger of the change (`verb`) must be on. */
export function isActivityEnabled(
  { isEnabled, triggers }: ActivityConfig = initialActivityConfig,
  verb: keyof typeof commentVerbs,
): boolean {
  return isEnabled && triggers?.comment?.[verb] === true;
}

export function requireActivityLogsEnabled(config: ActivityConfig | undefined): void {
  if (!config?.isEnabled)
    throw new ApiError(
      'FAILED_PRECONDITION',
      'Activity logs are not enabled. Enable them with /v2/workspace/activityconfig/update: activityServiceConfig.isEnabled',
    );
}

export function requireActivityLogsMutable(config: ActivityConfig | undefined): void {
  if (config?.immutable)
    throw new ApiError(
      'FAILED_PRECONDITION',
      'Activity logs are immutable. Change that with /v2/workspace/activityconfig/update: activityServiceConfig.immutable',
    );
}

export interface ServiceActivity extends Omit<NewActivity, 'id' | 'actionUser' | keyof typeof details> {
  readonly actionUser: z.output<typeof StoredUser>;
  readonly changes?: Readonly<Record<string, { readonly from?: unknown; readonly to?: unknown }>> | undefined;
  readonly entityData?: unknown;
  readonly entityTargetData?: unknown;
  readonly displayMessageTemplate?: string | undefined;
  readonly displayMessageTemplateData?: Readonly<Record<string, unknown>> | undefined;
}

/** Leaves out JSON fields over 64 KB, so that the change of content does not fail. */
export function toServiceActivity(
  own: ServiceActivity,
  fixed: Pick<Activity, 'id' | 'documentId' | 'createdAt'>,
): Activity {
  const activity = toActivity(own, fixed);
  const tooLarge = jsonFields.filter((name) => isLongerThan(activity[name] ?? '', limits.objectBytes));
  return { ...activity, ...Object.fromEntries(tooLarge.map((name) => [name, undefined])) };
}

/**
 * An activity that is newer than the removal stays. Returns undefined if an erased user was the actor. Otherwise
 * removes personal fields of erased users, the `entityData` and `entityTargetData` that they made, and `changes`
 * together with `entityTargetData`.
 */
export function eraseFromActivity(activity: Activity, removed: RemovedUsers): Activity | undefined {
  if (activity.createdAt > removed.removedAt) return activity;
  if (removed.userIds.has(activity.actionUser.userId)) return undefined;
  const { entityData, entityTargetData } = activity;
  const [isTheirs, targetIsTheirs] = [isRecordBy(entityData, removed), isRecordBy(entityTargetData, removed)];
  return withChanges(activity, {
    ...changedFieldsWithoutPersonal(
      activity,
      ['changes', 'entityData', 'entityTargetData', 'displayMessageTemplateData'],
      removed,
    ),
    ...(isTheirs && { entityData: undefined }),
    ...(targetIsTheirs && { entityTargetData: undefined, changes: undefined }),
  });
}
