// The colours of the panel: those of the page where text is readable on them, and readable ones for every page.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { choosePanelColours, contrastOf, type PageColour } from '#site/search-client/page/panel-colours.ts';
import * as fc from '../../../support/properties.ts';

const colour = (red: number, green: number, blue: number, alpha = 1): PageColour => ({
  ...{ red, green, blue, alpha },
});
const black = colour(0, 0, 0);
const clear = colour(0, 0, 0, 0);

test('the panel has the colours of the page, whatever its reader prefers elsewhere', () => {
  const light = choosePanelColours([clear, colour(250, 244, 230)], colour(40, 30, 20), true);
  assert.deepEqual(light, { scheme: 'light', background: 'rgb(250 244 230)', text: 'rgb(40 30 20)' });
  const dark = choosePanelColours([colour(16, 20, 28), colour(255, 255, 255)], colour(213, 217, 224), false);
  assert.deepEqual(dark, { scheme: 'dark', background: 'rgb(16 20 28)', text: 'rgb(213 217 224)' });
});

test('a page without a background is as dark as its text says', () => {
  assert.equal(choosePanelColours([clear, clear], black, true).scheme, 'light');
  assert.equal(choosePanelColours([clear, clear], colour(255, 255, 255), false).scheme, 'dark');
  const grey = colour(170, 170, 170);
  assert.equal(choosePanelColours([clear], grey, true).scheme, 'dark');
  assert.equal(choosePanelColours([], undefined, false).scheme, 'light');
});

function read(text: string): PageColour {
  const [red = 0, green = 0, blue = 0] = [...text.matchAll(/\d+/g)].map(([digits]) => Number(digits));
  return colour(red, green, blue);
}
/** As `color-mix` of the style does it. */
function mixed(share: number, a: PageColour, b: PageColour): PageColour {
  const mix = (x: number, y: number): number => Math.round(share * x + (1 - share) * y);
  return colour(mix(a.red, b.red), mix(a.green, b.green), mix(a.blue, b.blue));
}

test('text and muted text are readable, also in the chosen result and where words are marked', () => {
  const channel = fc.nat(255);
  const any = fc.record({ red: channel, green: channel, blue: channel, alpha: fc.constantFrom(0, 0.4, 1) });
  fc.assert(
    fc.property(fc.array(any, { maxLength: 2 }), any, fc.boolean(), (backgrounds, text, prefersDark) => {
      const chosen = choosePanelColours(backgrounds, text, prefersDark);
      const [back, front] = [read(chosen.background), read(chosen.text)];
      const marked = mixed(0.38, colour(0xf2, 0xb7, 0x05), back);
      for (const [ground, what] of [
        [back, mixed(0.74, front, back)],
        [mixed(0.09, front, back), mixed(0.74, front, back)],
        [marked, front],
      ] as const) {
        assert.ok(contrastOf(ground, what) >= 4.5, `${JSON.stringify(chosen)} ${contrastOf(ground, what)}`);
      }
    }),
  );
});
