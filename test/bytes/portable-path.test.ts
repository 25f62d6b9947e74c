import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findBrokenRule, foldPath, findPathProblem } from '../../src/bytes/portable-path.ts';
import { tries } from '../support/deep.ts';
import { forAll } from '../support/property.ts';

const DEVICES = ['CON', 'PRN', 'AUX', 'NUL', 'CONIN$', 'CONOUT$'].concat(
  ['COM', 'LPT'].flatMap((port) => Array.from('0123456789¹²³', (digit) => port + digit)),
);

describe('paths that are refused', () => {
  it('every control character, C0, DEL and C1', () => {
    for (let unit = 0; unit <= 0xa0; unit++) {
      const control = unit < 0x20 || (unit >= 0x7f && unit <= 0x9f);
      if (control) expect(findPathProblem(`a${String.fromCharCode(unit)}b`), String(unit)).toBeDefined();
    }
  });

  it('every name of a Windows device, in any case, with any extension, in any folder', () => {
    for (const device of DEVICES) {
      const extensions = ['', '.txt', '.tar.gz', '. x'];
      for (const form of [device.toLowerCase(), ...extensions.map((extension) => device + extension)]) {
        expect(findPathProblem(form), form).toBeDefined();
        expect(findPathProblem(`a/${form}`), form).toBeDefined();
        expect(findPathProblem(`${form}/a`), form).toBeDefined();
      }
      expect(findPathProblem(`${device} .txt`), 'spaces before the extension do not count').toBeDefined();
      expect(findPathProblem(`x${device}`), `x${device}`).toBeUndefined();
      expect(findPathProblem(`${device}x`), `${device}x`).toBeUndefined();
    }
  });

  it('are refused with a reason of one line', () => {
    forAll(100, [fc.string({ unit: 'binary' })], (path) => {
      expect(findPathProblem(path) ?? 'none').toMatch(/^[ -~]{4,80}$/);
    });
  });

  it('exclude every path that leaves its folder or changes when it is resolved', () => {
    // oxfmt-ignore
    const piece = fc.constantFrom('a', '.', '..', '/', '//', '\\', 'C:', ' ', 'nul', 'é', '\u0301', '\0', '%2e');
    forAll(tries(200, 2000), [fc.array(piece, { maxLength: 6 })], (pieces) => {
      const path = pieces.join('');
      if (findPathProblem(path) !== undefined) return;
      const root = 'file:///root/';
      const encoded = path.split('/').map(encodeURIComponent).join('/');
      expect(decodeURIComponent(new URL(encoded, root).href)).toBe(decodeURIComponent(root + encoded));
    });
  });
});

describe('the shortcut for plain paths', () => {
  // oxfmt-ignore
  const pieces = fc.constantFrom(
    'a', 'Z', '9', '_', '-', '.', '/', ' ', '~', 'con', 'COM1', 'lpt¹', 'nul', 'é', '\u212A', 'ſ', '\n', 'a'.repeat(600),
  );
  const paths = fc.oneof(
    fc.array(pieces, { maxLength: 7 }).map((chosen) => chosen.join('')),
    fc.string({ unit: 'binary-ascii' }),
    fc.string({ unit: 'binary' }),
  );

  it('accepts only paths that every rule accepts', () => {
    forAll(tries(2000, 20_000), [paths], (path) => {
      expect(findPathProblem(path)).toBe(findBrokenRule(path));
    });
  });

  it('folds ASCII as the full folding does', () => {
    forAll(100, [fc.string({ unit: 'binary-ascii' })], (path) => {
      expect(`${foldPath(path)}é`).toBe(foldPath(`${path}é`));
    });
  });

  it('takes linear time on a long path that is not plain', () => {
    const started = performance.now();
    for (const unit of ['a', 'a.', 'a/', '-', 'con'])
      findPathProblem(`${unit.repeat(100_000 / unit.length)}!`);
    findPathProblem(`${'a.'.repeat(511)}!`);
    expect(performance.now() - started).toBeLessThan(1000);
  });
});

describe('twins: names that one file system would not tell apart', () => {
  it('include every character in its capital and its small form', () => {
    for (let point = 0; point <= 0x10ffff; point++) {
      const character = String.fromCodePoint(point);
      const twin = foldPath(character);
      const forms = [character.toUpperCase(), character.toLowerCase(), twin];
      if (forms.every((form) => form === character) || findPathProblem(character) !== undefined) continue;
      const twins = forms.map(foldPath);
      if (twins.some((other) => other !== twin)) expect(twins, character).toEqual([twin, twin, twin]);
    }
  });

  it('include every name in capitals', () => {
    forAll(tries(100, 500), [fc.string({ unit: 'grapheme', maxLength: 8 })], (path) => {
      expect(foldPath(path.toUpperCase())).toBe(foldPath(path));
    });
  });
});
