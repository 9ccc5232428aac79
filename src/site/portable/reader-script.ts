// The script that pages of a portable site run in place of their framework: tabs, code groups, sidebars, menus, themes and copy buttons.
// It is classic, and works on what the page holds already; for the list of a collapsed category it opens a page of the site in a frame.
// Refuses elements that a script of the page owns, lists of another origin, and in a list all but texts, links and what holds them.
// Kept as text, because a reader's browser runs it and this program does not.

/** Runs once, when the page is read. Without comments and indents, which a reader would load in vain. */
export const readerScript = String.raw`(function () {
'use strict';
var root = document.documentElement;
function all(selector, from) { return Array.prototype.slice.call((from || document).querySelectorAll(selector)); }
function remember(key, value) { try { localStorage.setItem(key, value); } catch (error) { /* storage may be off */ } }
// An element of the page's own code handles its own clicks.
function isOwned(element) {
  for (var at = element; at; at = at.parentElement) {
    if (at.localName.indexOf('-') > 0 && customElements.get(at.localName)) return true;
  }
  return false;
}
function swap(from, to, name) {
  var value = from.getAttribute(name);
  var other = to.getAttribute(name);
  if (other === null) from.removeAttribute(name); else from.setAttribute(name, other);
  if (value === null) to.removeAttribute(name); else to.setAttribute(name, value);
}

// Tabs
function panelsOf(list, tabs) {
  var named = tabs.map(function (tab) {
    var id = tab.getAttribute('aria-controls') || (tab.getAttribute('href') || '').replace(/^#/, '');
    return id && document.getElementById(id);
  });
  if (named.every(Boolean)) return named;
  for (var at = list.parentElement, up = 0; at && up < 4; at = at.parentElement, up += 1) {
    var panels = all('[role=tabpanel]', at);
    if (panels.length >= tabs.length) return panels.slice(0, tabs.length);
  }
  return [];
}
function selectTab(tab) {
  var list = tab.closest('[role=tablist]');
  if (!list) return false;
  var tabs = all('[role=tab]', list);
  var panels = panelsOf(list, tabs);
  var old = tabs.findIndex(function (one) { return one.getAttribute('aria-selected') === 'true'; });
  var chosen = tabs.indexOf(tab);
  if (!panels[chosen] || old === chosen || old < 0) return panels.length > 0;
  ['class', 'aria-selected', 'tabindex', 'data-state', 'data-selected'].forEach(function (name) {
    swap(tabs[old], tab, name);
    if (name !== 'tabindex') swap(panels[old], panels[chosen], name);
  });
  panels.forEach(function (panel, at) { panel.hidden = at !== chosen; });
  return true;
}
function selectCode(input) {
  var group = input.closest('.vp-code-group');
  var chosen = all('.tabs input', group).indexOf(input);
  all('.blocks > *', group).forEach(function (block, at) { block.classList.toggle('active', at === chosen); });
}

// Menus and sidebars
var menu;
function closeMenu() {
  if (menu) menu.remove();
  menu = undefined;
  all('.VPSidebar.open').forEach(function (one) { one.classList.remove('open'); });
  all('[data-sx-open]').forEach(function (one) {
    one.removeAttribute('data-sx-open');
    one.setAttribute('aria-expanded', 'false');
  });
}
function openMenu(button) {
  menu = document.createElement('nav');
  menu.id = 'sx-menu';
  menu.setAttribute('aria-label', 'Menu');
  var close = document.createElement('button');
  close.type = 'button';
  close.textContent = '\u00d7';
  close.setAttribute('aria-label', 'Close menu');
  menu.append(close);
  var seen = {};
  all('header a[href], nav a[href], aside a[href]').forEach(function (link) {
    var text = link.textContent.trim();
    var key = link.href + '\n' + text;
    if (!text || seen[key] || /^#/.test(link.getAttribute('href')) || link.closest('main, footer')) return;
    seen[key] = true;
    var copy = document.createElement('a');
    copy.href = link.href;
    copy.textContent = text;
    if (link.getAttribute('aria-current')) copy.setAttribute('aria-current', 'page');
    menu.append(copy);
  });
  document.body.append(menu);
  close.focus();
  button.setAttribute('data-sx-open', '');
  button.setAttribute('aria-expanded', 'true');
}
var hamburger = '.VPNavBarHamburger,.navbar__toggle,button[aria-label*="navigation bar" i],button[aria-label*="menu" i]:not([aria-controls]):not([aria-haspopup=menu])';
function toggleSection(target) {
  var item = target.closest('.VPSidebarItem.collapsible > .item');
  if (item && (target.closest('.caret') || !target.closest('a'))) {
    item.parentElement.classList.toggle('collapsed');
    return true;
  }
  var category = target.closest('.menu__list-item-collapsible');
  if (!category || target.closest('a[href]:not([role=button],[aria-current])')) return false;
  return toggleCategory(category) || askForList(category);
}
function toggleCategory(category) {
  var list = category.parentElement.querySelector('ul');
  if (!list) return false;
  var isCollapsed = category.parentElement.classList.toggle('menu__list-item--collapsed');
  list.style.cssText = isCollapsed ? 'display:none' : '';
  all('[aria-expanded]', category).forEach(function (one) { one.setAttribute('aria-expanded', String(!isCollapsed)); });
  return true;
}
// Docusaurus leaves out collapsed lists. The page of a category has its list, and this script.
var asked, frame;
function askForList(category) {
  var link = category.querySelector('a[href]');
  if (asked || link?.origin !== location.origin) return false;
  asked = category;
  frame = document.createElement('iframe');
  frame.hidden = true;
  frame.name = 'sx-list ' + link.textContent;
  frame.src = link.href;
  document.body.append(frame);
  return true;
}
function sendList(label) {
  var category = all('.menu__list-item-collapsible').find((one) =>
    one.querySelector('a').textContent === label && one.parentElement.querySelector('[aria-current=page]'));
  var list = category?.parentElement.querySelector('ul');
  if (!list) return;
  all('a[href]', list).forEach((one) => {
    one.href = one.href;
    one.removeAttribute('aria-current');
    one.classList.remove('menu__link--active');
  });
  parent.postMessage(list.outerHTML, location.protocol === 'file:' ? '*' : location.origin);
}
// On a disk each origin is null, and a page elsewhere, to which the frame was led, may have that too.
function copyOf(node) {
  if (node.nodeType === Node.TEXT_NODE) return node.data;
  if (!/^(?:ul|li|div|a|span|button)$/.test(node.localName)) return '';
  var copy = document.createElement(node.localName);
  ['class', 'role', 'aria-expanded', 'aria-label'].forEach((name) => {
    if (node.hasAttribute(name)) copy.setAttribute(name, node.getAttribute(name));
  });
  if (/^(?:https?|file):$/.test(node.protocol)) copy.href = node.href;
  copy.append(...Array.from(node.childNodes, copyOf));
  return copy;
}
window.addEventListener('message', ({ data, origin, source }) => {
  if (!asked || source !== frame.contentWindow || origin !== self.origin || typeof data !== 'string') return;
  var list = new DOMParser().parseFromString(data, 'text/html').querySelector('ul');
  if (list) asked.after(copyOf(list));
  frame.remove();
  toggleCategory(asked);
  asked = undefined;
});
if (/^sx-list /.test(window.name)) sendList(window.name.slice(8));
function toggleExpanded(opener) {
  var isOpen = opener.getAttribute('aria-expanded') === 'true';
  var id = opener.getAttribute('aria-controls');
  var part = id ? document.getElementById(id) : opener.nextElementSibling;
  var sidebar = part && part.closest('.VPSidebar');
  if (!part) return false;
  opener.setAttribute('aria-expanded', String(!isOpen));
  if (sidebar) {
    sidebar.classList.toggle('open', !isOpen);
    if (!isOpen) opener.setAttribute('data-sx-open', '');
    return true;
  }
  if (opener.dataset.state) opener.dataset.state = isOpen ? 'closed' : 'open';
  if (part.dataset.state) part.dataset.state = isOpen ? 'closed' : 'open';
  if (part.matches('.dropdown__menu')) opener.parentElement.classList.toggle('dropdown--show', !isOpen);
  else if (id || part.hidden) part.hidden = isOpen;
  return true;
}

// Themes
var themeButton = '.VPSwitchAppearance,[class*=colorModeToggle] button,button[title="Change theme"],[data-theme-toggle]';
function isDark() { return root.classList.contains('dark') || root.dataset.theme === 'dark'; }
function toggleTheme() {
  var theme = isDark() ? 'light' : 'dark';
  var isVitePress = document.querySelector('.VPSwitchAppearance') !== null;
  if (root.dataset.theme) root.dataset.theme = theme;
  if (root.dataset.themeChoice) root.dataset.themeChoice = theme;
  root.classList.toggle('dark', theme === 'dark');
  if (root.classList.contains('light') || (!isVitePress && !root.dataset.theme)) root.classList.toggle('light', theme === 'light');
  if (root.style.colorScheme) root.style.colorScheme = theme;
  remember(isVitePress ? 'vitepress-theme-appearance' : 'theme', theme);
  showTheme();
}
function showTheme() {
  all('.VPSwitchAppearance').forEach(function (one) { one.setAttribute('aria-checked', String(isDark())); });
}

// Copy buttons
var copyButton = 'button.copy,.copy button,button[class*=copy i],button[title*=copy i],button[aria-label*=copy i]';
function codeOf(button) {
  if (button.dataset.code !== undefined) return button.dataset.code.replace(/\u007f/g, '\n');
  for (var at = button.parentElement, up = 0; at && up < 5; at = at.parentElement, up += 1) {
    var pre = at.querySelector('pre');
    if (pre) return pre.innerText.replace(/\n$/, '');
  }
  return undefined;
}
function copyByHand(text) {
  var area = document.createElement('textarea');
  area.value = text;
  area.style.cssText = 'position:fixed;top:0;opacity:0';
  document.body.append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
}
function copyCode(button) {
  var text = codeOf(button);
  if (text === undefined) return false;
  if (navigator.clipboard) navigator.clipboard.writeText(text).catch(function () { copyByHand(text); });
  else copyByHand(text);
  button.classList.add('copied');
  button.addEventListener('mouseleave', function () { button.classList.remove('copied'); }, { once: true });
  return true;
}

// Search boxes that only the framework can answer, and buttons that wait for it
var style = document.createElement('style');
style.textContent = '.VPNavBarSearch,.DocSearch-Button,[class^=navbarSearchContainer],.VPLocalNavOutlineDropdown,.theme-back-to-top-button{display:none!important}'
  + '#sx-menu{position:fixed;inset:0 0 0 auto;width:min(22rem,85vw);z-index:2147483000;overflow:auto;padding:1rem;background:Canvas;color:CanvasText;box-shadow:0 0 2rem #0006}'
  + '#sx-menu button{float:right;width:2rem;height:2rem;font-size:1.2rem;cursor:pointer}'
  + '#sx-menu a{display:block;padding:.45rem .5rem;color:inherit;text-decoration:none}#sx-menu a:hover,#sx-menu [aria-current]{text-decoration:underline}'
  + '.VPSidebar.open{opacity:1!important;visibility:visible!important;transform:translateX(0)!important}'
  + '.sx-copy{position:absolute;top:.4rem;right:.4rem;padding:.1rem .5rem;font:.75rem sans-serif;cursor:pointer;opacity:.75}.sx-copy.copied::after{content:" \\2713"}';
document.head.append(style);
all('[class*=colorModeToggle] button').forEach(function (one) { one.disabled = false; });
all('.theme-code-block').forEach(function (block) {
  if (block.querySelector(copyButton)) return;
  var button = document.createElement('button');
  button.type = 'button';
  button.className = 'sx-copy';
  button.textContent = 'Copy';
  button.setAttribute('aria-label', 'Copy code to clipboard');
  var content = block.querySelector('pre').parentElement;
  content.style.position = 'relative';
  content.append(button);
});
showTheme();

document.addEventListener('click', function (event) {
  var target = event.target instanceof Element ? event.target : event.target.parentElement;
  if (!target || event.defaultPrevented) return;
  var opener = target.closest(hamburger);
  var wasOpen = menu !== undefined || (opener && opener.hasAttribute('data-sx-open'));
  var tab = target.closest('[role=tab]');
  var copy = target.closest(copyButton);
  var expanded = target.closest('[aria-expanded]');
  var isHandled;
  if (!(menu && menu.contains(target)) && !target.closest('.VPSidebar, [data-sx-open]')) closeMenu();
  if (copy) isHandled = copyCode(copy);
  else if (isOwned(target)) return;
  else if (tab) isHandled = selectTab(tab);
  else if (target.closest(themeButton)) { toggleTheme(); isHandled = true; }
  else if (opener) { if (wasOpen) closeMenu(); else openMenu(opener); isHandled = true; }
  else if (toggleSection(target)) isHandled = true;
  else if (expanded && !target.closest('a[href]:not([href="#"])')) isHandled = toggleExpanded(expanded);
  if (isHandled) event.preventDefault();
});
document.addEventListener('change', function (event) {
  if (event.target.closest('.vp-code-group .tabs')) selectCode(event.target);
});
document.addEventListener('keydown', function (event) {
  var target = event.target;
  if (event.key === 'Escape') closeMenu();
  if (!(target instanceof Element) || isOwned(target)) return;
  var isButton = target.matches('[role=tab]:not(button):not(a),[role=button]:not(button):not(a)');
  if (isButton && (event.key === 'Enter' || event.key === ' ')) { event.preventDefault(); target.click(); }
  var tab = target.closest('[role=tab]');
  var step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!tab || !step) return;
  var tabs = all('[role=tab]', tab.closest('[role=tablist]') || tab);
  var next = tabs[(tabs.indexOf(tab) + step + tabs.length) % tabs.length];
  if (next && selectTab(next)) next.focus();
});
})();
`.replaceAll(/^ *\/\/.*\n|^ +/gm, '');
