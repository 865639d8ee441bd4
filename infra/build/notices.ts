import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectDir } from './build.ts';

interface LockEntry {
  readonly version: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
}

/** `text` has the licence and notice files of the package, and is empty if the package has none. */
interface DeployedPackage {
  readonly name: string;
  readonly version: string;
  readonly licence: string;
  readonly text: string;
}

/** The pages of `/docs` contain these development dependencies. */
const packagesOfPages = ['minisearch'];

/** Returns the packages of the lock file that functions or pages can contain. */
export function deployedPackages(): DeployedPackage[] {
  const lock = JSON.parse(readFileSync(join(projectDir, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, LockEntry>;
  };
  return Object.entries(lock.packages)
    .filter(
      ([path, { dev, optional }]) =>
        path !== '' && ((!dev && !optional) || packagesOfPages.includes(path.slice('node_modules/'.length))),
    )
    .map(([path, { version }]) => {
      const folder = join(projectDir, path);
      const { name, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<
        string,
        string
      >;
      const files = readdirSync(folder).filter((file) => /^(licen[cs]e|notice|copying)(\.(md|txt))?$/i.test(file));
      const texts = files.sort().map((file) => readFileSync(join(folder, file), 'utf8').replaceAll('\r', '').trim());
      return { name: name as string, version, licence: license as string, text: texts.join('\n\n') };
    })
    .sort((a, b) => (`${a.name} ${a.version}` < `${b.name} ${b.version}` ? -1 : 1));
}

const COPYRIGHT = /^[^\w\n]*copyright\b.*\d{4}.*$/gim;

/** Returns Markdown: a table of the packages, and each licence with the copyright lines of its packages. */
export function thirdPartyNotices(): string {
  const packages = deployedPackages();
  const rows = packages.map(({ name, version, licence }) => `| ${name} | ${version} | ${licence} |`);
  const byTerms = Map.groupBy(packages, (each) => termsOf(each).replace(/\s+/g, ' '));
  const texts = [...byTerms.values()].map((group) => {
    const holders = group.map(({ name, text }) =>
      [name, ...(text.match(COPYRIGHT) ?? []).map((line) => line.trim())].join('\n    '),
    );
    return `\`\`\`text\n${[...new Set(holders)].join('\n')}\n\n${termsOf(group[0] as DeployedPackage)}\n\`\`\``;
  });
  return ['| Package | Version | Licence |', '| --- | --- | --- |', ...rows, '', texts.join('\n\n')].join('\n');
}

/** Leaves out copyright lines and what follows the terms, such as the appendix of the Apache License. */
function termsOf({ text, licence }: DeployedPackage): string {
  if (text === '') return `The package has no text of a licence. Its package.json says: ${licence}`;
  const [terms = ''] = text.split('END OF TERMS AND CONDITIONS');
  return terms
    .replace(COPYRIGHT, '')
    .replaceAll('```', "'''")
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}
