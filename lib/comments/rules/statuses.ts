import * as z from 'zod';
import { defineNamedSchema, defineSchema, Id, Name, optional, unchangedObject } from '../../shared/schema.ts';

/** Customers can send other statuses too. */
const standardStatuses: Readonly<Record<string, Status>> = {
  OPEN: { id: 'OPEN', name: 'Open', type: 'default' },
  IN_PROGRESS: { id: 'IN_PROGRESS', name: 'In Progress', type: 'ongoing' },
  RESOLVED: { id: 'RESOLVED', name: 'Resolved', type: 'terminal' },
};

/** Customers can add fields of their own, such as a colour. */
export type Status = Readonly<Record<string, unknown>> & { readonly id: string };

const StatusObject = /* @__PURE__ */ defineNamedSchema(
  'StatusInput',
  () =>
    unchangedObject(
      z
        .object({
          id: Id.describe('Yours, or `OPEN`, `IN_PROGRESS` or `RESOLVED`.'),
          name: optional(Name).describe('The text that users see.'),
          type: optional(Name).describe(
            '`terminal` resolves the thread. By default the type of the standard status with this id.',
          ),
        })
        .describe('A status of a thread. Other fields, such as a colour, are stored unchanged.'),
    ) as unknown as z.ZodType<Status>,
);

const statusTypes = ['default', 'ongoing', 'terminal'] as const;

/** As clients of `/v1` send it. */
const StatusOfType = /* @__PURE__ */ defineSchema(() =>
  z.object({
    id: z.null().optional(),
    type: z.enum(statusTypes).describe('Selects the standard status of this type.'),
  }),
);

export const SentStatus = /* @__PURE__ */ defineSchema(() =>
  z.union([Id, StatusObject, StatusOfType], {
    error: `must be the id of a status, an object with the id, or an object with a type (${statusTypes.join(', ')})`,
  }),
);

export const initialStatus: Status = standardStatuses.OPEN as Status;

/**
 * An object with an id stays as it was sent. An id or a type alone becomes the standard status, and an unknown id `{ id
 * }`.
 */
export function resolveStatus(sent: z.output<typeof SentStatus>): Status {
  if (typeof sent === 'string') return findStandardStatus(sent) ?? { id: sent };
  if (typeof sent.id === 'string') return sent;
  return Object.values(standardStatuses).find(({ type }) => type === sent.type) as Status;
}

export function isTerminal({ id, type }: Status): boolean {
  return (type ?? findStandardStatus(id)?.type) === 'terminal';
}

/** Customers send the same status with and without its name, type and own fields. */
export function isSameStatus(one: Status, other: Status): boolean {
  return one.id === other.id && isTerminal(one) === isTerminal(other);
}

function findStandardStatus(id: string): Status | undefined {
  return Object.hasOwn(standardStatuses, id) ? standardStatuses[id] : undefined;
}
