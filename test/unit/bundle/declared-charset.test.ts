// Text that is not UTF-8 is sent without a charset: what counts as a declaration, and what does not.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contentTypeOf } from '#bundle/content-type.ts';
import { namesCharset, typeOfText } from '#bundle/declared-charset.ts';

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');
const utf16 = Buffer.from('\ufeffa', 'utf16le');

const others: readonly (readonly [string, string, Buffer])[] = [
  ['meta charset', 'a.html', latin1('<html><meta charset="Shift_JIS">')],
  ['meta charset without quotes', 'a.htm', latin1('<META CHARSET=windows-1252>')],
  [
    'meta http-equiv',
    'a.html',
    latin1(
      "<meta content='text/html;charset=iso-8859-15' http-equiv=Content-Type><title>Gr\u00fc\u00dfe</title>",
    ),
  ],
  ['a later meta', 'a.html', latin1('<meta name="x" content="charset=utf-8"><meta charset="euc-kr">')],
  ['after a label that does not exist', 'a.html', latin1('<meta charset="nope"><meta charset=big5>')],
  ['bytes that UTF-8 does not have', 'a.html', latin1('<title>Gr\u00fc\u00dfe</title>')],
  ['a script of a page in another encoding', 'a.js', latin1("alert('Gr\u00fc\u00dfe')")],
  ['@charset', 'a.css', latin1('@charset "iso-8859-15"; a {}')],
  ['XML declaration', 'a.xhtml', latin1('<?xml version="1.0" encoding="ISO-8859-1"?><html/>')],
  ['XML declaration of a picture', 'a.svg', latin1("<?xml version='1.0' encoding='windows-1252' ?><svg/>")],
  ['BOM of UTF-16', 'a.txt', utf16],
  ['BOM of UTF-16, big end first', 'a.html', Buffer.from(utf16).swap16()],
  ['UTF-16 without BOM', 'a.xml', Buffer.from('<?xml version="1.0"?>', 'utf16le')],
];
const inUtf8: readonly (readonly [string, string, Buffer])[] = [
  ['nothing declared', 'a.html', Buffer.from('<title>Grüße</title>')],
  ['nothing at all', 'a.txt', Buffer.alloc(0)],
  ['declared as UTF-8', 'a.html', latin1('<meta charset=UTF8><title>\u00fc</title>')],
  ['a BOM overrules the declaration', 'a.html', Buffer.from('\ufeff<meta charset="iso-8859-15">')],
  ['in a comment', 'a.html', latin1('<!-- <meta charset="iso-8859-15"> -->')],
  ['in text of another meta', 'a.html', latin1('<meta name=description content="charset=iso-8859-15">')],
  ['UTF-16 that is none', 'a.html', latin1('<meta charset="utf-16">')],
  ['a declaration of another type', 'a.js', latin1('@charset "iso-8859-15";')],
  ['@charset that is not first', 'a.css', latin1(' @charset "iso-8859-15";')],
  ['a character that is cut off', 'a.md', Buffer.from('Grü').subarray(0, 3)],
];

test('text in another encoding is sent without a charset', () => {
  for (const [name, path, start] of others) {
    const type = contentTypeOf(path);
    assert.equal(typeOfText(type, start), type.replace('; charset=utf-8', ''), name);
  }
});

test('text in UTF-8 is sent as such', () => {
  for (const [name, path, start] of inUtf8)
    assert.match(typeOfText(contentTypeOf(path), start), /utf-8$/, name);
  assert.deepEqual(
    [namesCharset(contentTypeOf('a.png')), namesCharset(contentTypeOf('a.html'))],
    [false, true],
  );
});
