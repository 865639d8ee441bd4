import { building, type Capability } from '../../app/capability.ts';
import { type SecretBox, secretBox } from '../../crypto/secretBox.ts';
import { readNotificationLevels } from '../../notifications/notificationSettings.ts';
import { ThreadEntity } from '../../comments/threads.ts';
import type { DeliveryKey } from '../deliveries.ts';
import { type Target, wantedTarget } from '../targets.ts';
import { DocumentEntity } from '../../directory/documents.ts';
import type { Stored } from '../../table/entity.ts';
import { EventEntity, EventPayloadEntity } from '../../events/outbox.ts';
import { OrganizationEntity } from '../../directory/organizations.ts';
import { openTable, type Table, itemOf } from '../../table/table.ts';
import { profilesOf, UserEntity } from '../../directory/users.ts';
import { mapSecret } from '../../workspaces/configs/configStore.ts';
import { AdvancedWebhookConfigEntity, BasicWebhookConfigEntity } from '../configs.ts';
import { openSigningSecret } from '../signingSecrets.ts';
import { dict, distinct } from '../../shared/collections.ts';
import { isPrivate, type Visibility } from '../../content/rules/visibility.ts';
import { isBasicTarget } from '../rules/matching.ts';
import { incompleteActors, withActors } from '../../events/rules/actors.ts';
import type { Audience, EventPayload } from '../../events/rules/payload.ts';
import { type RecipientRules, recipientsOf } from '../../events/rules/recipients.ts';
import type { AdvancedWebhookConfig } from '../rules/advanced.ts';
import {
  advancedPayload,
  basicPayload,
  type Enrichment,
  type NotificationsConfig,
  type Recipient,
} from '../rules/payloads.ts';
import { liveSecrets } from '../rules/secrets.ts';
import { type Encoded, encodeBody } from '../transport/body.ts';
import type { WebhookRequest } from '../transport/send.ts';
import { basicHeaders, type Signed, signHeaders } from '../transport/sign.ts';
import { audienceRules, candidates, type OccurredEvent } from '../../events/audience.ts';

/** The request that delivers an event, or why none can be made. */
export interface PreparedRequest {
  readonly request: WebhookRequest | { readonly error: string };
  readonly target: Stored<Target>;
  /** When the event happened, epoch ms. */
  readonly createdAt: number;
}

/** An event with what is known at the time of delivery. */
interface Current {
  readonly event: OccurredEvent;
  /** For advanced payloads: how those whom it concerns are notified. */
  readonly notificationsConfig?: NotificationsConfig;
  /** For basic payloads. */
  readonly accessDeniedUsers?: readonly string[];
  readonly enrichment?: Enrichment;
}

/** What an event tells of, as it is stored now. */
interface Subject {
  readonly organizationName?: string | undefined;
  readonly documentName?: string | undefined;
  readonly visibility?: Visibility | undefined;
}

/** How many users' settings a payload shows. */
const MOST_CONFIGS = 100;

/** Makes the requests of deliveries from what is stored at that moment: the event, what it tells of, and the configuration. */
export class WebhookRequests {
  readonly #table: Table;
  readonly #box: SecretBox;
  readonly #clock: () => number;

  constructor(table: Table, box: SecretBox, clock: () => number = Date.now) {
    this.#table = table;
    this.#box = box;
    this.#clock = clock;
  }

  /**
   * The request of a delivery. `gone` when it may not be delivered any more: the endpoint is gone or disabled, advanced webhooks are
   * disabled, or what the event tells of is gone; that a comment was deleted is told even then. Whether there is somebody to deliver to
   * is read last of all: once a customer has the answer that an endpoint is deleted, no attempt begins.
   */
  async prepare(key: DeliveryKey): Promise<PreparedRequest | 'gone'> {
    const { tenant } = key;
    const event = await this.#event(key);
    const current = event && (await this.#current(event, key.endpointId));
    if (!current) return 'gone';
    // The profiles of the actor and authors come with the last read, so that they cost no call.
    const actors = incompleteActors(event.payload).map((userId) => itemOf(UserEntity, { tenant, userId }));
    const [target, advanced, ...users] = await this.#table.batchGet(
      wantedTarget(key),
      itemOf(AdvancedWebhookConfigEntity, { tenant }),
      ...actors,
    );
    if (!target) return 'gone';
    const told = {
      ...current,
      event: { ...current.event, payload: withActors(current.event.payload, profilesOf(users)) },
    };
    const { createdAt } = current.event;
    if (target.kind === 'basic') return { request: await this.#basic(tenant, target, told), target, createdAt };
    return advanced?.isEnabled
      ? { request: await this.#advanced(tenant, target, advanced, told), target, createdAt }
      : 'gone';
  }

  async #event(key: DeliveryKey): Promise<OccurredEvent | undefined> {
    const [event, text] = await this.#table.batchGet(itemOf(EventEntity, key), itemOf(EventPayloadEntity, key));
    return event && text && { ...event, tenant: key.tenant, payload: JSON.parse(text.payload) as EventPayload };
  }

  /** The event as it may be told now; undefined when nothing of it may. */
  async #current(event: OccurredEvent, endpointId: string): Promise<Current | undefined> {
    const { audience } = event.payload;
    const basic = isBasicTarget(endpointId);
    const [subject, notificationsConfig, rules] = await Promise.all([
      this.#subject(event),
      basic ? undefined : this.#notificationsConfig(event.tenant, audience),
      basic && audience ? audienceRules({ table: this.#table, clock: this.#clock }, event.tenant, event) : undefined,
    ]);
    if (subject === 'gone') return undefined;
    const now = { ...event, payload: subject ? withVisibility(event.payload, subject.visibility) : event.payload };
    if (!basic) return { event: now, ...(notificationsConfig && { notificationsConfig }) };
    return {
      event: now,
      accessDeniedUsers: audience && rules ? candidates(audience).filter((userId) => !rules.maySee(userId)) : [],
      ...(endpointId === 'ep_basic_processed' && {
        enrichment: {
          ...subject,
          recipients: audience && rules ? await this.#recipients(event.tenant, audience, rules) : [],
        },
      }),
    };
  }

  /** What a thread's event tells of; undefined where there is nothing to be looked at, as also for a deleted comment whose thread went with it. */
  async #subject({ tenant, event, documentId, payload }: OccurredEvent): Promise<Subject | 'gone' | undefined> {
    const thread = payload.audience?.thread;
    if (!thread) return undefined;
    const { organizationKey, documentKey, organizationId, annotationId, createdAt } = thread;
    const scope = { tenant, organizationKey };
    const [organization, document, head] = await this.#table.batchGet(
      itemOf(OrganizationEntity, { tenant, organizationId }),
      itemOf(DocumentEntity, { ...scope, documentId: documentId ?? '' }),
      itemOf(ThreadEntity, { ...scope, documentKey, annotationId, createdAt }),
    );
    const there = organization?.internalId === organizationKey && document?.internalId === documentKey && head;
    if (!there) return event === 'comment.delete' ? undefined : 'gone';
    return {
      organizationName: organization.organizationName,
      documentName: document.documentName,
      visibility: head.visibility,
    };
  }

  /** How those are notified whom a thread's event concerns; of very many those whom it addresses, as it is read for each attempt. */
  async #notificationsConfig(tenant: string, audience: Audience | undefined): Promise<NotificationsConfig | undefined> {
    const userIds = audience ? candidates(audience).slice(0, MOST_CONFIGS) : [];
    if (!audience?.thread || userIds.length === 0) return undefined;
    const { organizationKey, documentKey } = audience.thread;
    const settings = await readNotificationLevels(this.#table, { tenant, organizationKey }, documentKey, userIds);
    return {
      of: 'document',
      users: dict([...settings].map(([userId, { inbox, email }]) => [userId, { inbox, email }])),
    };
  }

  /** Whom settings and visibility leave, on any of the channels. */
  async #recipients(tenant: string, audience: Audience, rules: RecipientRules): Promise<Recipient[]> {
    const userIds = distinct([...recipientsOf(audience, 'inbox', rules), ...recipientsOf(audience, 'email', rules)]);
    const users = await this.#table.getMany(
      UserEntity,
      userIds.map((userId) => ({ tenant, userId })),
    );
    return userIds.map((userId, index) => ({ userId, name: users[index]?.name, email: users[index]?.email }));
  }

  async #advanced(
    tenant: string,
    { url, endpoint }: Extract<Target, { kind: 'advanced' }>,
    config: AdvancedWebhookConfig,
    { event, notificationsConfig }: Current,
  ): Promise<PreparedRequest['request']> {
    const encoded = encodeBody(
      advancedPayload(event, { config, ...(notificationsConfig && { notificationsConfig }) }),
      config,
    );
    if ('error' in encoded) return encoded;
    const now = this.#clock();
    const secrets = await Promise.all(
      liveSecrets(endpoint.secrets, now).map((secret) =>
        openSigningSecret(this.#box, tenant, endpoint.endpointId, secret),
      ),
    );
    return requestOf(url, encoded, signHeaders({ ...signed(event, encoded, now), secrets }));
  }

  async #basic(
    tenant: string,
    { url, config }: Extract<Target, { kind: 'basic' }>,
    { event, accessDeniedUsers = [], enrichment }: Current,
  ): Promise<PreparedRequest['request']> {
    const { webhookServiceConfig } = await mapSecret('open', BasicWebhookConfigEntity, this.#box, tenant, config);
    const encoded = encodeBody(
      basicPayload(event, { config: webhookServiceConfig, accessDeniedUsers, ...(enrichment && { enrichment }) }),
      webhookServiceConfig,
    );
    if ('error' in encoded) return encoded;
    return requestOf(
      url,
      encoded,
      basicHeaders({ ...signed(event, encoded, this.#clock()), authToken: webhookServiceConfig.authToken }),
    );
  }
}

type Body = Exclude<Encoded, { error: string }>;

function requestOf(
  url: string,
  { body, contentType }: Body,
  headers: Readonly<Record<string, string>>,
): WebhookRequest {
  return { url, headers: { 'content-type': contentType, ...headers }, body };
}

function signed({ eventId }: OccurredEvent, { body }: Body, now: number): Signed {
  return { id: eventId, timestampSeconds: Math.floor(now / 1000), body };
}

/** The payload with the visibility that the thread has now; shown for private ones only (facts B7). */
function withVisibility(payload: EventPayload, visibility: Visibility | undefined): EventPayload {
  const { visibility: _then, ...data } = payload.data;
  const { commentAnnotation: annotation } = data;
  return {
    ...payload,
    data: {
      ...data,
      ...(typeof annotation === 'object' &&
        annotation !== null && { commentAnnotation: { ...annotation, visibility } }),
      ...(isPrivate(visibility) && { visibility }),
    },
  };
}

/** Make the requests of deliveries. Whoever uses it may read the master key. */
export const webhookRequests: Capability<WebhookRequests> = /* @__PURE__ */ building([secretBox], {
  grants: [{ resource: 'table', actions: ['GetItem', 'BatchGetItem', 'Query'] }],
  env: ['TABLE_NAME'],
  open: (env) => new WebhookRequests(openTable(env), secretBox.open(env)),
});
