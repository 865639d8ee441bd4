import * as z from 'zod';
import { Id, unchangedObject, Name, optional } from '../../shared/schema.ts';

/** The statuses that every customer has. Customers can send other statuses too. */
const standardStatuses: Readonly<Record<string, Status>> = {
  OPEN: { id: 'OPEN', name: 'Open', type: 'default' },
  IN_PROGRESS: { id: 'IN_PROGRESS', name: 'In Progress', type: 'ongoing' },
  RESOLVED: { id: 'RESOLVED', name: 'Resolved', type: 'terminal' },
};

/** The status of a thread. Customers can add fields of their own, such as a colour. */
export type Status = Readonly<Record<string, unknown>> & { readonly id: string };

const StatusObject = unchangedObject(
  z.object({ id: Id, name: optional(Name), type: optional(Name) }),
) as unknown as z.ZodType<Status>;

const statusTypes = ['default', 'ongoing', 'terminal'] as const;

/** A status without an id. Clients of `/v1` send this form. */
const StatusOfType = z.object({ id: z.null().optional(), type: z.enum(statusTypes) });

/** A status in a request: an object with an id, an id, or an object with a type only. */
export const SentStatus = z.union([Id, StatusObject, StatusOfType], {
  error: `must be the id of a status, an object with the id, or an object with a type (${statusTypes.join(', ')})`,
});

export const initialStatus: Status = standardStatuses.OPEN as Status;

/** Returns a sent object with an id unchanged. Returns the standard status of an id or type, or `{ id }` for an unknown id. */
export function resolveStatus(sent: z.output<typeof SentStatus>): Status {
  if (typeof sent === 'string') return findStandardStatus(sent) ?? { id: sent };
  if (typeof sent.id === 'string') return sent;
  return Object.values(standardStatuses).find(({ type }) => type === sent.type) as Status;
}

/** Returns whether the type of a status is `terminal`. A status without a type has the type of the standard status with its id. */
export function isTerminal({ id, type }: Status): boolean {
  return (type ?? findStandardStatus(id)?.type) === 'terminal';
}

function findStandardStatus(id: string): Status | undefined {
  return Object.hasOwn(standardStatuses, id) ? standardStatuses[id] : undefined;
}
