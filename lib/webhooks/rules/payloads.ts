import type { EventPayload } from '../../events/rules/payload.ts';
import type { NotificationLevel } from '../../events/rules/recipients.ts';
import { isObject } from '../../shared/collections.ts';
import { advancedActionType, basicActionType } from './actionTypes.ts';
import { protectData } from './dataProtection.ts';
import { fillTemplates } from './templates.ts';

/** A stored event with its payload. */
export interface DeliverableEvent {
  /** The id that receivers get as `webhook-id` and `webhookId`. All deliveries of the event have the same id. */
  readonly eventId: string;
  readonly event: string;
  readonly createdAt: number;
  readonly payload: EventPayload;
}

interface ProtectionConfig {
  readonly enableDataProtection?: boolean | undefined;
}

/** The notification levels for the document of the users in the audience, by user id. */
export type AudienceLevels = Readonly<Record<string, Readonly<Record<'inbox' | 'email', NotificationLevel>>>>;

/**
 * Content for the processed URL, one of the two URLs of basic webhooks: current names and recipients. Bodies for the raw URL do not
 * have it.
 */
export interface Enrichment {
  readonly organizationName?: string | undefined;
  readonly documentName?: string | undefined;
  /** The users whom the event notifies, after their settings and access were checked. */
  readonly recipients?: readonly Recipient[];
}

export interface Recipient {
  readonly userId: string;
  readonly name?: string | undefined;
  readonly email?: string | undefined;
}

export interface BasicOptions {
  readonly config: ProtectionConfig;
  /** The ids of the users in the audience who may not see the content. */
  readonly accessDeniedUsers?: readonly string[];
  /** Present for the processed URL. Undefined for the raw URL, whose body has the data as it is stored. */
  readonly enrichment?: Enrichment | undefined;
}

/**
 * Returns the body of an advanced delivery (V2) as JSON text. Its timestamp is the time of the event, because deliveries can arrive
 * in any order.
 */
export function advancedPayload(
  event: DeliverableEvent,
  { config, levels }: { config: ProtectionConfig; levels?: AudienceLevels | undefined },
): string {
  const { source, data } = event.payload;
  return JSON.stringify({
    event: event.event,
    actionType: advancedActionType(event.event),
    source,
    webhookId: event.eventId,
    timestamp: new Date(event.createdAt).toISOString(),
    data: config.enableDataProtection ? protectData(data) : data,
    ...(levels && { usersDocumentNotificationsConfig: levels }),
  });
}

/**
 * Returns the body of a basic delivery (V1) as JSON text. It is flat, and its action types and metadata differ from those of
 * advanced deliveries.
 */
export function basicPayload(
  event: DeliverableEvent,
  { config, accessDeniedUsers = [], enrichment }: BasicOptions,
): string {
  const { source, data: stored } = event.payload;
  const enriched = enrichment ? enrich(stored, enrichment) : stored;
  const { actionUser, metadata, ...fields } = config.enableDataProtection ? protectData(enriched) : enriched;
  return JSON.stringify({
    // The envelope's fields come after the fields of the data, so the data cannot replace them.
    ...fields,
    webhookId: event.eventId,
    actionType: basicActionType(event.event),
    notificationSource: source,
    timestamp: new Date(event.createdAt).toISOString(),
    actionUser,
    metadata: flattenMetadata(asObject(metadata)),
    ...(source === 'comment' && { assigned: isSet(asObject(fields.commentAnnotation).assignedTo) }),
    ...((source === 'comment' || source === 'crdt') && { accessDeniedUsers }),
  });
}

/** Returns the data with filled templates, the current names of the organization and the document, and the recipients. */
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
 * Returns the flat metadata of basic payloads. The ids of the organization and the document are each in two fields, for example
 * `organizationId` and `clientOrganizationId`.
 */
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
  return isObject(value) ? value : {};
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}
