import { render } from 'preact';
import { Docs } from './docs.js';
import '../styles.css';
import './docs.css';

const place = document.getElementById('app');
if (place) render(<Docs />, place);
