import { type EventType, eventTypes } from '../../lib/events/rules/catalogue.ts';
import { ComponentSchemas, jsonSchemaOf } from '../../lib/openapi/jsonSchema.ts';
import { advancedSchema } from '../../lib/openapi/webhookBodies.ts';
import { wrappedBodies } from '../../lib/openapi/webhooks.ts';
import { typeOf } from './jsonSchemaType.ts';

export const clientWebhooksFile = 'lib/client/webhookTypes.ts';

/** Returns the text of `clientWebhooksFile`. */
export function clientWebhooks(): string {
  const components = new ComponentSchemas();
  const events = eventTypes.map((event) => `  '${event}': ${webhookOf(event, components)};`);
  const types = Object.entries(components.toJson()).map(([name, schema]) => `type ${name} = ${typeOf(schema)};`);
  const wrapped = Object.entries(wrappedBodies).map(
    ([name, schema]) => `export type ${name} = { event?: undefined } & ${typeOf(schema)};`,
  );
  return `/** The types of webhooks. \`npm run readme\` writes this file. */
${types.join('\n')}

/** The payload of each event type. Later versions of the service can have further fields and events. */
export interface Webhooks {
${events.join('\n')}
}

/** The payload of a webhook. \`event\` tells which. */
export type Webhook = Webhooks[keyof Webhooks];

${wrapped.join('\n')}
`;
}

function webhookOf(event: EventType, components: ComponentSchemas): string {
  return typeOf(jsonSchemaOf(advancedSchema(event), components));
}
