import type { TextOperation } from '../../../../../lib/client/editorVersions.ts';

export interface Segment {
  readonly text: string;
  readonly where: 'both' | 'version' | 'now';
}

/** The operations, in their order, change the text of the version into the present text. */
export function segmentsOf(text: string, operations: readonly TextOperation[]): Segment[] {
  const segments: Segment[] = [];
  let [read, at] = [0, 0];
  const take = (length: number, where: Segment['where']) => {
    segments.push({ text: text.slice(read, read + length), where });
    read += length;
  };
  for (const operation of operations) {
    take(operation.at - at, 'both');
    take(operation.delete, 'version');
    segments.push({ text: operation.insert, where: 'now' });
    at = operation.at + operation.insert.length;
  }
  take(text.length - read, 'both');
  return segments.filter((segment) => segment.text !== '');
}
