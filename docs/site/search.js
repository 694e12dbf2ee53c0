/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pages that have every word of the search; those whose title has them come first. index.js has the pages. */
'use strict';
const root = document.body.dataset.root;
const found = document.getElementById('found');
const wide = matchMedia('(min-width: 50rem)');

function show(query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const inTitle = ([title]) => words.every(word => title.toLowerCase().includes(word));
  const hits = words.length ? pages.filter(page => words.every(word => page[2].includes(word))) : [];
  hits.sort((a, b) => inTitle(b) - inTitle(a));
  found.replaceChildren(...hits.slice(0, 20).map(([title, url]) => {
    const item = document.createElement('li');
    const link = item.appendChild(document.createElement('a'));
    link.href = `${root}/${url}`;
    link.textContent = title;
    return item;
  }));
}

const unfold = () => { document.getElementById('menu').open = wide.matches; };
document.getElementById('search').addEventListener('input', event => show(event.target.value));
wide.addEventListener('change', unfold);
unfold();
