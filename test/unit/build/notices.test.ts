import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { projectDir } from '../../../infra/build/build.ts';
import { deployedPackages, thirdPartyNotices } from '../../../infra/build/notices.ts';

const { dependencies, devDependencies } = JSON.parse(readFileSync(join(projectDir, 'package.json'), 'utf8')) as Record<
  'dependencies' | 'devDependencies',
  Record<string, string>
>;
const deployed = new Map(deployedPackages().map((each) => [each.name, each]));

test('the notices have each package that functions can contain, with its version, and no package of the tests', () => {
  for (const [name, version] of Object.entries(dependencies))
    expect([name, deployed.get(name)?.version]).toEqual([name, version]);
  expect(['jest', 'esbuild', 'typescript'].filter((name) => deployed.has(name))).toEqual([]);
  expect(Object.keys(devDependencies)).toEqual(expect.arrayContaining(['jest', 'esbuild', 'typescript']));
});

test('the notices have the copyright of a package and the terms of its licence', () => {
  const notices = thirdPartyNotices();
  expect(notices).toMatch(/^ipaddr\.js\n {4}Copyright \(C\) 2011-2017 whitequark/m);
  expect(notices).toContain('Permission is hereby granted, free of charge');
  expect(notices).toContain(`| yjs | ${dependencies.yjs} | MIT |`);
});
