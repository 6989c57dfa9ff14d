/**
 * `npm version patch|minor|major -w sdk` runs this between the new version and its commit: what CHANGELOG.md lists under
 * "Unreleased" becomes that version's section. A version without anything to say is refused.
 */
import { readFileSync, writeFileSync } from 'node:fs';

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const changelog = readFileSync('CHANGELOG.md', 'utf8');
const news = changelog.split(/^## /m).find((section) => section.startsWith('Unreleased\n'));
if (!news?.slice('Unreleased\n'.length).trim()) {
  console.error('CHANGELOG.md has nothing under "## Unreleased": say what is new before you make a version');
  process.exit(1);
}
writeFileSync('CHANGELOG.md', changelog.replace('## Unreleased\n', `## Unreleased\n\n## ${version}\n`));
