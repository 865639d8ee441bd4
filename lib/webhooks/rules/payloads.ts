import { advancedActionType, basicActionType } from '../../events/rules/names.ts';
import type { EventPayload } from '../../events/rules/payload.ts';
import type { NotificationLevel } from '../../events/rules/recipients.ts';
import { protectData } from './protection.ts';
import { fillTemplates } from './templates.ts';

/** An event as it is stored, its payload read. */
export interface DeliverableEvent {
  /** Also the message id: `webhook-id` and `webhookId` of every delivery of it. */
  readonly eventId: string;
  /** An event type. */
  readonly event: string;
  readonly createdAt: number;
  readonly payload: EventPayload;
}

interface Protection {
  readonly enableDataProtection?: boolean | undefined;
}

/** How the users that an event concerns are notified, by user id: their levels for the organization, or for the document. */
export interface NotificationsConfig {
  readonly of: 'organization' | 'document';
  readonly users: Readonly<Record<string, Readonly<Record<'inbox' | 'email', NotificationLevel>>>>;
}

/** What is looked up for the processed URL at the time of delivery. */
export interface Enrichment {
  readonly organizationName?: string | undefined;
  readonly documentName?: string | undefined;
  /** Whom the notification settings leave. */
  readonly recipients?: readonly Recipient[];
}

export interface Recipient {
  readonly userId: string;
  readonly name?: string | undefined;
  readonly email?: string | undefined;
}

export interface BasicOptions {
  readonly config: Protection;
  /** The ids of users whom it concerns and who may not see it. */
  readonly accessDeniedUsers?: readonly string[];
  /** For the processed URL; without it the event is sent as it is stored, to the raw one (design 6). */
  readonly enrichment?: Enrichment;
}

const configField = {
  organization: 'usersOrganizationNotificationsConfig',
  document: 'usersDocumentNotificationsConfig',
} as const;

/** The body of an advanced delivery (V2, facts B7) as JSON text, with the time of the event, since deliveries come in any order. */
export function advancedPayload(
  event: DeliverableEvent,
  { config, notificationsConfig }: { config: Protection; notificationsConfig?: NotificationsConfig },
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

/** The body of a basic delivery (V1, facts B7) as JSON text: flat, with verbs and metadata of its own. */
export function basicPayload(
  event: DeliverableEvent,
  { config, accessDeniedUsers = [], enrichment }: BasicOptions,
): string {
  const { source, data: stored } = event.payload;
  const enriched = enrichment ? enrich(stored, enrichment) : stored;
  const { actionUser, metadata, ...rest } = config.enableDataProtection ? protectData(enriched) : enriched;
  return JSON.stringify({
    // What the data calls the same stays behind: names of the envelope mean the envelope.
    ...rest,
    webhookId: event.eventId,
    actionType: basicActionType(event.event),
    notificationSource: source,
    timestamp: new Date(event.createdAt).toISOString(),
    actionUser,
    metadata: flat(asObject(metadata)),
    ...(source === 'comment' && { assigned: isSet(asObject(rest.commentAnnotation).assignedTo) }),
    ...((source === 'comment' || source === 'crdt') && { accessDeniedUsers }),
  });
}

/** The data with its templates filled in, the names of document and organization, and the recipients. */
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

/**
 * Metadata as basic payloads have it (facts B7): organization and document by id and name, their other fields apart. The ids
 * are the customer's in both places; internal ones are nobody's business.
 */
function flat({ organization, document, ...metadata }: Record<string, unknown>): object {
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
