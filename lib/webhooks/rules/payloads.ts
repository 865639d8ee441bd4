import { advancedActionType, basicActionType } from '../../events/rules/names.ts';
import type { EventPayload } from '../../events/rules/payload.ts';
import type { NotificationLevel } from '../../events/rules/recipients.ts';
import { protectData } from './protection.ts';
import { fillTemplates } from './templates.ts';

/** A stored event with its payload. */
export interface DeliverableEvent {
  /** The message id: `webhook-id` and `webhookId` of all its deliveries. */
  readonly eventId: string;
  readonly event: string;
  readonly createdAt: number;
  readonly payload: EventPayload;
}

interface Protection {
  readonly enableDataProtection?: boolean | undefined;
}

/** The notification levels of the users in the audience, by user id, for the organization or the document. */
export interface NotificationsConfig {
  readonly of: 'organization' | 'document';
  readonly users: Readonly<Record<string, Readonly<Record<'inbox' | 'email', NotificationLevel>>>>;
}

/** Names and recipients that are read at delivery, for the processed URL of basic webhooks. */
export interface Enrichment {
  readonly organizationName?: string | undefined;
  readonly documentName?: string | undefined;
  /** The users who are notified, after settings and access checks. */
  readonly recipients?: readonly Recipient[];
}

export interface Recipient {
  readonly userId: string;
  readonly name?: string | undefined;
  readonly email?: string | undefined;
}

export interface BasicOptions {
  readonly config: Protection;
  /** The users in the audience who may not see the content. */
  readonly accessDeniedUsers?: readonly string[];
  /** For the processed URL. Without it, the event is sent as it is stored, for the raw URL. */
  readonly enrichment?: Enrichment | undefined;
}

const configField = {
  organization: 'usersOrganizationNotificationsConfig',
  document: 'usersDocumentNotificationsConfig',
} as const;

/** Returns the body of an advanced delivery (V2) as JSON text. It has the time of the event, because deliveries arrive in any order. */
export function advancedPayload(
  event: DeliverableEvent,
  { config, notificationsConfig }: { config: Protection; notificationsConfig?: NotificationsConfig | undefined },
): string {
  const { source, data } = event.payload;
  return JSON.stringify({
    event: event.event,
    actionType: advancedActionType(event.event),
    source,
    webhookId: event.eventId,
    timestamp: new Date(event.createdAt).toISOString(),
    data: config.enableDataProtection ? protectData(data) : data,
    ...(notificationsConfig && { [configField[notificationsConfig.of]]: notificationsConfig.users }),
  });
}

/** Returns the body of a basic delivery (V1) as JSON text: flat, with its own action types and metadata. */
export function basicPayload(
  event: DeliverableEvent,
  { config, accessDeniedUsers = [], enrichment }: BasicOptions,
): string {
  const { source, data: stored } = event.payload;
  const enriched = enrichment ? enrich(stored, enrichment) : stored;
  const { actionUser, metadata, ...rest } = config.enableDataProtection ? protectData(enriched) : enriched;
  return JSON.stringify({
    // First, so that data cannot replace the fields of the envelope.
    ...rest,
    webhookId: event.eventId,
    actionType: basicActionType(event.event),
    notificationSource: source,
    timestamp: new Date(event.createdAt).toISOString(),
    actionUser,
    metadata: flattenMetadata(asObject(metadata)),
    ...(source === 'comment' && { assigned: isSet(asObject(rest.commentAnnotation).assignedTo) }),
    ...((source === 'comment' || source === 'crdt') && { accessDeniedUsers }),
  });
}

/** Returns the data with filled templates, the names of organization and document, and the recipients. */
function enrich(
  data: EventPayload['data'],
  { organizationName, documentName, recipients }: Enrichment,
): Record<string, unknown> {
  const filled = fillTemplates(data);
  const { organization, document, ...metadata } = asObject(filled.metadata);
  return {
    ...filled,
    metadata: {
      ...metadata,
      ...(organization !== undefined && {
        organization: { ...asObject(organization), ...(organizationName !== undefined && { organizationName }) },
      }),
      ...(document !== undefined && {
        document: { ...asObject(document), ...(documentName !== undefined && { documentName }) },
      }),
    },
    ...(recipients && { recipients }),
  };
}

/** Returns the flat metadata of basic payloads. Both forms of an id, with and without `client`, are the customer's. */
function flattenMetadata({ organization, document, ...metadata }: Record<string, unknown>): object {
  const { organizationId, organizationName, ...organizationMetadata } = asObject(organization);
  const { documentId, documentName, ...documentMetadata } = asObject(document);
  return {
    ...metadata,
    clientOrganizationId: organizationId,
    organizationId,
    organizationName,
    clientDocumentId: documentId,
    documentId,
    documentName,
    ...(Object.keys(organizationMetadata).length > 0 && { organizationMetadata }),
    ...(Object.keys(documentMetadata).length > 0 && { documentMetadata }),
  };
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}
