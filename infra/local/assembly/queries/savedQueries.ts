import { familyOf } from '../../../../lib/app/endpoint.ts';
import { pascal } from '../../../constructs/names.ts';
import { StartError } from '../../startError.ts';
import { UnsupportedDefinition } from '../scanner.ts';
import type { Resource } from '../template.ts';
import { type Command, type LogLine, placeholdersOf, readQuery } from './readQuery.ts';

/** A query that the template saves for Logs Insights. */
export interface SavedQuery {
  readonly name: string;
  readonly text: string;
  readonly commands: readonly Command[];
  /** The names of the texts `<name>` that the operator replaces. */
  readonly placeholders: readonly string[];
  readonly log: 'functions' | 'access';
  /** Returns whether the query searches a line of its file. */
  readonly searches: (line: LogLine) => boolean;
}

/**
 * Returns the saved queries of the templates, by name. A query of a nested stack searches the lines of the functions of this stack,
 * and one of the root stack the access log. Throws a `StartError` that names a query that the local run does not support.
 */
export function savedQueriesOf(queries: readonly Resource[], functions: readonly Resource[]): SavedQuery[] {
  const ids = functions.map(({ path }) => path.split('/'));
  /** A worker's function has the name of the worker in its logical id, with more after it. */
  const isIn = (stack: string, worker: string) =>
    ids.some(([of, id = '']) => of === stack && id.startsWith(pascal(worker)));
  return queries
    .map(({ path, properties }): SavedQuery => {
      const [name, text] = [String(properties.Name), String(properties.QueryString)];
      const stack = path.includes('/') ? path.slice(0, path.indexOf('/')) : undefined;
      const commands = withOwner(name, () => readQuery(text));
      return {
        name,
        text,
        commands,
        placeholders: placeholdersOf(commands),
        log: stack === undefined ? 'access' : 'functions',
        searches({ endpoint, worker }) {
          if (stack === undefined) return true;
          if (typeof endpoint === 'string') return pascal(familyOf(pathOf(endpoint))) === stack;
          return typeof worker === 'string' && isIn(stack, worker);
        },
      };
    })
    .sort((a, b) => a.name.localeCompare(b.name, 'en'));
}

/** Returns the path of an endpoint. A page of the reference has a dot in its name and no version. */
function pathOf(endpointId: string): string {
  return `/${/^v\d/.test(endpointId) ? endpointId.replaceAll('.', '/') : endpointId}`;
}

function withOwner<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof UnsupportedDefinition)) throw error;
    throw new StartError(
      `The saved query "${name}" has a part that the local run does not support: ${error.message}\nAdd it to infra/local/assembly/queries.`,
    );
  }
}
