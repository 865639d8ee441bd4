import { combine } from '../app/capability.ts';
import { ThreadEntity } from '../comments/threads.ts';
import { completeActors, incompleteActors } from '../content/rules/actors.ts';
import { type SecretBox, secretBox } from '../crypto/secretBox.ts';
import { DocumentEntity } from '../directory/documents.ts';
import { OrganizationEntity } from '../directory/organizations.ts';
import { findRenamed } from '../directory/renamedDocuments.ts';
import { isPrivate, type Visibility } from '../directory/rules/visibility.ts';
import { findUsers, profilesOf, type User, UserEntity } from '../directory/users.ts';
import type { Audience, EventPayload } from '../events/rules/payload.ts';
import { type RecipientRules, recipientsOf } from '../events/rules/recipients.ts';
import { findPerson, parseEventContent } from '../mail/rules/eventMailContent.ts';
import { audienceMembers, type OccurredEvent, readRecipientRules } from '../notifications/audience.ts';
import { readNotificationLevels } from '../notifications/notificationSettings.ts';
import { dict, distinct, isObject } from '../shared/collections.ts';
import { BatchReader } from '../table/batchReader.ts';
import type { Stored } from '../table/entity.ts';
import { tableWith } from '../table/storeCapability.ts';
import { itemOf, type ItemRead, type Table } from '../table/table.ts';
import { mapSecrets } from '../workspaces/configs/configStore.ts';
import type { DeliveryKey } from './deliveries.ts';
import type { LoadedItems } from './loadAttempt.ts';
import type { AdvancedWebhookConfig } from './rules/advancedConfig.ts';
import { isBasicTarget } from './rules/matching.ts';
import {
  advancedPayload,
  type AudienceLevels,
  basicPayload,
  type Enrichment,
  type Recipient,
} from './rules/payloads.ts';
import { liveSecrets } from './rules/secrets.ts';
import { openSigningKey } from './signingSecrets.ts';
import { readSubscriptions, settingsItem, type SubscriptionReader, type Subscriptions } from './subscriptions.ts';
import { type Target, targetOf } from './targets.ts';
import { encodeBody } from './transport/encodeBody.ts';
import type { WebhookRequest } from './transport/send.ts';
import { basicHeaders, type SignedContent, signHeaders } from './transport/sign.ts';
import { BasicWebhookConfigEntity } from './webhookConfigs.ts';

export interface PreparedRequest {
  readonly request: WebhookRequest | { readonly error: string };
  readonly target: Stored<Target>;
}

export interface AttemptContent extends Pick<LoadedItems, 'event' | 'payload' | 'subscriptions'> {
  /** `subscriptions` was read directly before, so the settings need not be read again. */
  readonly isCurrent: boolean;
}

interface DeliveryContent {
  readonly event: OccurredEvent;
  readonly levels: AudienceLevels | undefined;
  readonly accessDeniedUsers: readonly string[];
  readonly enrichment: Enrichment | undefined;
}

interface ThreadState {
  readonly organizationName: string | undefined;
  readonly documentName: string | undefined;
  readonly visibility: Visibility | undefined;
}

const MAX_NOTIFICATION_LEVELS = 100;

export class WebhookRequests {
  readonly #table: Table;
  readonly #box: SecretBox;
  readonly #reader: BatchReader;
  readonly #subscriptions: Pick<SubscriptionReader, 'readAt'>;
  readonly #clock: () => number;

  constructor(
    table: Table,
    box: SecretBox,
    subscriptions: Pick<SubscriptionReader, 'readAt'>,
    clock: () => number = Date.now,
  ) {
    this.#table = table;
    this.#reader = BatchReader.of(table);
    this.#box = box;
    this.#subscriptions = subscriptions;
    this.#clock = clock;
  }

  /**
   * Returns `cancelled` if the event or the target does not exist, its thread was deleted, or the target is off. The
   * settings are read last: after a delete call has answered, only requests that were already prepared are still sent.
   */
  async prepare(
    { tenant, endpointId }: DeliveryKey,
    { event, payload: sent, isCurrent, subscriptions: loaded }: AttemptContent,
  ): Promise<PreparedRequest | 'cancelled'> {
    if (!event || !sent) return 'cancelled';
    const content = await this.#readContent({ ...event, payload: sent }, endpointId);
    if (!content) return 'cancelled';
    const { payload } = content.event;
    // A truncated payload keeps only ids.
    const incomplete = payload.data.truncated === true ? [] : incompleteActors(payload);
    const actors = incomplete.map((userId) => itemOf(UserEntity, { tenant, userId }));
    const isUnread = isCurrent && !readsContent(endpointId, sent.audience) && actors.length === 0;
    const [subscriptions, users] = isUnread ? [loaded, []] : await this.#readSettings(tenant, actors);
    const target = targetOf(subscriptions, endpointId);
    if (!target) return 'cancelled';
    const completed = { ...content, event: { ...event, payload: completeActors(payload, profilesOf(users)) } };
    if (target.kind === 'basic') return { request: await this.#basicRequest(target, completed), target };
    if (!subscriptions.advanced?.isEnabled) return 'cancelled';
    return { request: await this.#advancedRequest(target, subscriptions.advanced, completed), target };
  }

  async #readSettings(
    tenant: string,
    actors: readonly ItemRead<User>[],
  ): Promise<[Subscriptions, (Stored<User> | undefined)[]]> {
    const [settings, ...users] = await this.#reader.batchGet(settingsItem(tenant), ...actors);
    return [await this.#subscriptions.readAt(tenant, settings), users];
  }

  async #readContent(event: OccurredEvent, endpointId: string): Promise<DeliveryContent | undefined> {
    const { audience } = event.payload;
    const isBasic = isBasicTarget(endpointId);
    const [thread, levels, rules] = await Promise.all([
      this.#readThread(event),
      isBasic ? undefined : this.#readLevels(event.tenant, audience),
      isBasic && audience
        ? readRecipientRules({ table: this.#table, clock: this.#clock }, event.tenant, event)
        : undefined,
    ]);
    if (thread === 'deleted') return undefined;
    const payload = thread ? withVisibility(event.payload, thread.visibility) : event.payload;
    const denied = audience && rules ? audienceMembers(audience).filter((userId) => !rules.maySee(userId)) : [];
    return {
      event: { ...event, payload },
      levels,
      accessDeniedUsers: denied,
      enrichment:
        endpointId === 'ep_basic_processed'
          ? {
              ...thread,
              recipients: audience && rules ? await this.#readRecipients(event, audience, rules) : [],
            }
          : undefined,
    };
  }

  /**
   * Returns `deleted` if the thread, its document or its organization was deleted, except for `comment.delete`, which
   * is sent nevertheless.
   */
  async #readThread({
    tenant,
    event,
    documentId,
    payload,
  }: OccurredEvent): Promise<ThreadState | 'deleted' | undefined> {
    const thread = payload.audience?.thread;
    if (!thread) return undefined;
    const { organizationKey, documentKey, organizationId, annotationId, createdAt } = thread;
    const scope = { tenant, organizationKey };
    const [organization, named, head] = await this.#reader.batchGet(
      itemOf(OrganizationEntity, { tenant, organizationId }),
      itemOf(DocumentEntity, { ...scope, documentId: documentId ?? '' }),
      itemOf(ThreadEntity, { ...scope, documentKey, annotationId, createdAt }),
    );
    const document = await findRenamed(this.#table, { ...scope, documentKey }, named);
    if (organization?.internalId !== organizationKey || !document || !head)
      return event === 'comment.delete' ? undefined : 'deleted';
    return {
      organizationName: organization.organizationName,
      documentName: document.documentName,
      visibility: head.visibility,
    };
  }

  async #readLevels(tenant: string, audience: Audience | undefined): Promise<AudienceLevels | undefined> {
    const userIds = audience ? audienceMembers(audience).slice(0, MAX_NOTIFICATION_LEVELS) : [];
    if (!audience?.thread || userIds.length === 0) return undefined;
    const { organizationKey, documentKey } = audience.thread;
    const settings = await readNotificationLevels(this.#table, { tenant, organizationKey }, documentKey, userIds);
    return dict([...settings].map(([userId, { inbox, email }]) => [userId, { inbox, email }]));
  }

  async #readRecipients(
    { tenant, payload }: OccurredEvent,
    audience: Audience,
    rules: RecipientRules,
  ): Promise<Recipient[]> {
    const userIds = distinct([...recipientsOf(audience, 'inbox', rules), ...recipientsOf(audience, 'email', rules)]);
    const users = await findUsers(this.#table, tenant, userIds);
    const content = parseEventContent(payload.data);
    return userIds.map((userId, index) => {
      const person = findPerson(content, userId);
      return { userId, name: users[index]?.name ?? person.name, email: users[index]?.email ?? person.email };
    });
  }

  async #advancedRequest(
    { url, endpoint }: Extract<Target, { kind: 'advanced' }>,
    config: AdvancedWebhookConfig,
    { event, levels }: DeliveryContent,
  ): Promise<PreparedRequest['request']> {
    const encoded = encodeBody(advancedPayload(event, { config, levels }), config);
    if ('error' in encoded) return encoded;
    const { body } = encoded;
    const now = this.#clock();
    const keys = await Promise.all(
      liveSecrets(endpoint.secrets, now).map((secret) =>
        openSigningKey(this.#box, event.tenant, endpoint.endpointId, secret),
      ),
    );
    return toRequest(url, body, signHeaders({ ...signedContent(event, body, now), keys }));
  }

  async #basicRequest(
    { url, config }: Extract<Target, { kind: 'basic' }>,
    { event, accessDeniedUsers, enrichment }: DeliveryContent,
  ): Promise<PreparedRequest['request']> {
    const { webhookServiceConfig } = await mapSecrets(
      'open',
      BasicWebhookConfigEntity,
      this.#box,
      event.tenant,
      config,
    );
    const payload = basicPayload(event, { config: webhookServiceConfig, accessDeniedUsers, enrichment });
    const encoded = encodeBody(payload, webhookServiceConfig);
    if ('error' in encoded) return encoded;
    const { body } = encoded;
    const { authToken } = webhookServiceConfig;
    return toRequest(url, body, basicHeaders({ ...signedContent(event, body, this.#clock()), authToken }));
  }
}

function readsContent(endpointId: string, audience: Audience | undefined): boolean {
  return audience !== undefined && (audience.thread !== undefined || isBasicTarget(endpointId));
}

function toRequest(url: string, body: string, headers: Readonly<Record<string, string>>): WebhookRequest {
  return { url, headers: { 'content-type': 'application/json', ...headers }, body };
}

function signedContent({ eventId }: OccurredEvent, body: string, now: number): SignedContent {
  return { id: eventId, timestampSeconds: Math.floor(now / 1000), body };
}

function withVisibility(payload: EventPayload, visibility: Visibility | undefined): EventPayload {
  const { visibility: _storedVisibility, ...data } = payload.data;
  const { commentAnnotation: annotation } = data;
  return {
    ...payload,
    data: {
      ...data,
      ...(isObject(annotation) && { commentAnnotation: { ...annotation, visibility } }),
      ...(isPrivate(visibility) && { visibility }),
    },
  };
}

export const prepareRequests = /* @__PURE__ */ combine(
  {
    table: /* @__PURE__ */ tableWith(['GetItem', 'BatchGetItem', 'Query']),
    box: secretBox,
    subscriptions: readSubscriptions,
  },
  ({ table, box, subscriptions }) => new WebhookRequests(table, box, subscriptions),
);
