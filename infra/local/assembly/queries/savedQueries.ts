import { familyOf } from '../../../../lib/app/endpoint.ts';
import { pascal } from '../../../constructs/names.ts';
import { StartError } from '../../startError.ts';
import { UnsupportedDefinition } from '../scanner.ts';
import type { Resource } from '../template.ts';
import { type Command, type LogLine, placeholdersOf, readQuery } from './readQuery.ts';

export interface SavedQuery {
  readonly name: string;
  readonly text: string;
  readonly commands: readonly Command[];
  readonly placeholders: readonly string[];
  readonly log: 'functions' | 'access';
  readonly searches: (line: LogLine) => boolean;
}

/**
 * A query of a nested stack searches the log of this stack's functions, one of the root stack the access log. Throws a
 * `StartError` that names an unsupported query.
 */
export function savedQueriesOf(queries: readonly Resource[], functions: readonly Resource[]): SavedQuery[] {
  const ids = functions.map(({ path }) => path.split('/'));
  /** The logical id of a worker's function begins with the name of the worker. */
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

/**
 * In the id of an endpoint, dots stand for slashes. The id of an asset, such as `openapi.json`, has no version, and its
 * dots stay.
 */
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
