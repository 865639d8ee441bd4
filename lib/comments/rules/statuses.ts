import * as z from 'zod';
import { Id, unchangedObject, Name, optional } from '../../shared/schema.ts';

/** The statuses that every customer has (facts B17); others are the customer's own. */
const catalogue: Readonly<Record<string, Status>> = {
  OPEN: { id: 'OPEN', name: 'Open', type: 'default' },
  IN_PROGRESS: { id: 'IN_PROGRESS', name: 'In Progress', type: 'ongoing' },
  RESOLVED: { id: 'RESOLVED', name: 'Resolved', type: 'terminal' },
};

/** The status of a thread: what is known of it, and any other fields of the customer's, such as its colours. */
export type Status = Readonly<Record<string, unknown>> & { readonly id: string };

const StatusObject = unchangedObject(
  z.object({ id: Id, name: optional(Name), type: optional(Name) }),
) as unknown as z.ZodType<Status>;

const statusTypes = ['default', 'ongoing', 'terminal'] as const;

/** A status without an id, as clients of the first version send it. */
const StatusOfType = z.object({ id: z.null().optional(), type: z.enum(statusTypes) });

/** A status as callers send it: whole, or its id alone, or its type alone. */
export const SentStatus = z.union([Id, StatusObject, StatusOfType], {
  error: `must be the id of a status, an object with the id, or an object with a type (${statusTypes.join(', ')})`,
});

/** What a thread has until somebody says otherwise. */
export const initialStatus: Status = catalogue.OPEN as Status;

/** Returns the whole status: the known one for an id or a type alone, and nothing but the id for an unknown id. */
export function resolveStatus(sent: z.output<typeof SentStatus>): Status {
  if (typeof sent === 'string') return known(sent) ?? { id: sent };
  if (typeof sent.id === 'string') return sent as Status;
  return Object.values(catalogue).find(({ type }) => type === sent.type) as Status;
}

/** Whether a thread is done once it has this status: by the status's own type, else by that of the known status with its id. */
export function isTerminal({ id, type }: Status): boolean {
  return (type ?? known(id)?.type) === 'terminal';
}

function known(id: string): Status | undefined {
  return Object.hasOwn(catalogue, id) ? catalogue[id] : undefined;
}
