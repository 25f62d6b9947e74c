/**
 * What CI runners execute in the output of a step, as their sources read it:
 *
 * - GitHub (actions/runner, ActionCommand.cs): `##[name …]` anywhere in a line; `::name …::` at the start of a line,
 *   after white space.
 * - Azure Pipelines (azure-pipelines-agent, Command.cs): `##vso[area.event …]` anywhere in a line.
 * - TeamCity (service messages): `##teamcity[…]` anywhere in a line.
 */
export function listCommands(output: string): string[] {
  return output
    .split(/\r\n|\r|\n/)
    .flatMap((line) => [
      ...inBrackets(line, '##['),
      ...inBrackets(line, '##vso['),
      ...inBrackets(line, '##teamcity['),
      ...atStart(line.trimStart()),
    ]);
}

/** The runners look for the prefix without regard to case, and for the first `]` behind it. */
function inBrackets(line: string, prefix: string): string[] {
  const start = line.toLowerCase().indexOf(prefix);
  const end = line.indexOf(']', start);
  return start < 0 || end < 0 ? [] : [line.slice(start, end + 1)];
}

function atStart(line: string): string[] {
  const end = line.indexOf('::', 2);
  return !line.startsWith('::') || end < 0 ? [] : [line.slice(0, end + 2)];
}
