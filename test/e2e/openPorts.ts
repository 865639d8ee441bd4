import { readdir, readFile, readlink } from 'node:fs/promises';

/** A port that a process has opened. */
export interface OpenPort {
  readonly host: string;
  readonly port: number;
}

const LISTENING = '0A';

/** Returns all TCP ports that a process and its descendants listen on, as the system lists them. Works on Linux only. */
export async function openPorts(pid: number): Promise<OpenPort[]> {
  const pids = await descendantsOf(pid);
  const inodes = new Set((await Promise.all(pids.map(socketsOf))).flat());
  const tables = await Promise.all(
    ['tcp', 'tcp6'].map((name) => readFile(`/proc/net/${name}`, 'utf8').catch(() => '')),
  );
  return tables.flatMap((table) =>
    table.split('\n').flatMap((line) => {
      const [, address = '', , state, , , , , , inode = ''] = line.trim().split(/ +/);
      if (state !== LISTENING || !inodes.has(inode)) return [];
      const [host = '', port = ''] = address.split(':');
      return [{ host: hostOf(host), port: Number.parseInt(port, 16) }];
    }),
  );
}

/** Returns the ids of a process and of its children, their children, and so on. */
async function descendantsOf(pid: number): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  const children = await Promise.all(
    threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, 'utf8').catch(() => '')),
  );
  const ids = children.join(' ').split(' ').filter(Boolean).map(Number);
  return [pid, ...(await Promise.all(ids.map(descendantsOf))).flat()];
}

async function socketsOf(pid: number): Promise<string[]> {
  const files = await readdir(`/proc/${pid}/fd`).catch(() => []);
  const targets = await Promise.all(files.map((file) => readlink(`/proc/${pid}/fd/${file}`).catch(() => '')));
  return targets.flatMap((target) => /^socket:\[(\d+)\]$/.exec(target)?.[1] ?? []);
}

/** Returns an address of `/proc/net/tcp`. It consists of numbers of 32 bits in the byte order of the machine. */
function hostOf(hexadecimal: string): string {
  if (hexadecimal.length > 8) return hexadecimal;
  return [...Buffer.from(hexadecimal, 'hex').reverse()].join('.');
}
